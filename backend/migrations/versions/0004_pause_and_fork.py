"""Hold a run, and begin one with an attempt of another."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("paused_at", sa.DateTime(timezone=True)))
    op.add_column("runs", sa.Column("paused_by", sa.Text()))
    op.add_column("runs", sa.Column("pause_reason", sa.Text(), server_default="", nullable=False))
    op.add_column(
        "runs", sa.Column("guidance", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False)
    )
    op.add_column("runs", sa.Column("forked_from", postgresql.JSONB()))


def downgrade() -> None:
    for column in ("forked_from", "guidance", "pause_reason", "paused_by", "paused_at"):
        op.drop_column("runs", column)
