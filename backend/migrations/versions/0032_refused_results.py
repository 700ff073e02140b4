"""Refused results go back to their agents, with the results that come before them in the base."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    runs = postgresql.ARRAY(sa.Uuid())
    op.add_column("forge_reports", sa.Column("after", runs, server_default="{}", nullable=False))


def downgrade() -> None:
    op.drop_column("forge_reports", "after")
