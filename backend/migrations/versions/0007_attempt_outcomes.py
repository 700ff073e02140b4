"""What became of attempts, for metrics: read from an index alone, without prompts and outputs."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_attempts_outcome", "attempts", ["run_id", "phase", "number", "status"])


def downgrade() -> None:
    op.drop_index("ix_attempts_outcome", table_name="attempts")
