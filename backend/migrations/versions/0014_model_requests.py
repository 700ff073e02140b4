"""The ledger of model requests: who asked which model, what it consumed, and what it cost."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "model_requests",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid()),
        sa.Column("phase", sa.Text()),
        sa.Column("attempt", sa.Integer()),
        sa.Column("candidate", sa.Integer()),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger()),
        sa.Column("output_tokens", sa.BigInteger()),
        sa.Column("cached_tokens", sa.BigInteger()),
        sa.Column("cost_usd", sa.Numeric(18, 8)),
        sa.Column("cost_kind", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("latency_ms", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "role IN ('agent', 'judge', 'director', 'answer')", name=op.f("ck_model_requests_role")
        ),
        sa.CheckConstraint(
            "cost_kind IN ('billed', 'computed', 'unknown')", name=op.f("ck_model_requests_cost_kind")
        ),
        sa.CheckConstraint(
            "(cost_kind = 'unknown') = (cost_usd IS NULL)", name=op.f("ck_model_requests_cost")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_model_requests_run_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_model_requests"),
    )
    op.create_index("ix_model_requests_run_id_at", "model_requests", ["run_id", "at"])
    op.create_index("ix_model_requests_at", "model_requests", ["at"])


def downgrade() -> None:
    op.drop_table("model_requests")
