"""What evaluators said and how long it took, for metrics: read from an index alone, without evidence."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_evaluations_figures", "evaluations", ["evaluator", "status", "duration_ms", "gate"])


def downgrade() -> None:
    op.drop_index("ix_evaluations_figures", table_name="evaluations")
