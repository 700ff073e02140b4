"""Attempts whose agent asked its vendor with a login."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("attempts", sa.Column("vendor_login", sa.Boolean(), server_default="false", nullable=False))


def downgrade() -> None:
    op.drop_column("attempts", "vendor_login")
