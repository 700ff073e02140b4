"""Verdicts say whether their gate was only observed."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "evaluations", sa.Column("observed", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.create_check_constraint(op.f("ck_evaluations_observed"), "evaluations", "NOT (gate AND observed)")
    op.create_index(
        "ix_evaluations_observed", "evaluations", ["evaluator"], postgresql_where=sa.text("observed")
    )


def downgrade() -> None:
    op.drop_index("ix_evaluations_observed", "evaluations")
    op.drop_constraint(op.f("ck_evaluations_observed"), "evaluations")
    op.drop_column("evaluations", "observed")
