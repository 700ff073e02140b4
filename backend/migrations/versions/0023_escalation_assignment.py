"""Escalations have a reviewer who looks after them."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("escalations", sa.Column("assigned_to", sa.Text()))
    op.add_column("escalations", sa.Column("assigned_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    op.drop_column("escalations", "assigned_at")
    op.drop_column("escalations", "assigned_to")
