"""Held-out tests: kept with their run, and nowhere that an agent reads."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "held_out_tests",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("files", JSONB(), nullable=False),
        sa.Column("at_base", JSONB()),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_held_out_tests_run_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", name="pk_held_out_tests"),
    )


def downgrade() -> None:
    op.drop_table("held_out_tests")
