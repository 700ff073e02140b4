"""Baselines: what the base's tests do before a run changes anything."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "run_baselines",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("summary", JSONB(), nullable=False),
        sa.Column("tests", JSONB(), nullable=False),
        sa.Column("reused", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_run_baselines_run_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", name="pk_run_baselines"),
    )
    op.create_index("ix_run_baselines_key", "run_baselines", ["key", "created_at"])


def downgrade() -> None:
    op.drop_table("run_baselines")
