"""Forges: what they are told about runs, and the deliveries that they sign."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

revision = "0019"
down_revision = "0017"
branch_labels = None
depends_on = None


def _time(name: str) -> "sa.Column[object]":
    return sa.Column(name, sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False)


def upgrade() -> None:
    op.create_table(
        "forge_reports",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("forge", sa.Text(), nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("issue", sa.Integer()),
        sa.Column("trigger", sa.Text()),
        sa.Column("branch", sa.Text()),
        sa.Column("pushed", ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("pull_number", sa.Integer()),
        sa.Column("pull_url", sa.Text()),
        sa.Column("comment_id", sa.BigInteger()),
        sa.Column("outcome", sa.Text()),
        sa.Column("outcome_by", sa.Text()),
        sa.Column("outcome_at", sa.DateTime(timezone=True)),
        sa.Column("wanted", sa.Integer(), server_default="1", nullable=False),
        sa.Column("reported", sa.Integer(), server_default="0", nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        _time("next_at"),
        sa.Column("last_error", sa.Text(), server_default="", nullable=False),
        _time("created_at"),
        sa.CheckConstraint("outcome IN ('merged', 'closed')", name=op.f("ck_forge_reports_outcome")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_forge_reports_run_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", name="pk_forge_reports"),
        sa.UniqueConstraint("trigger", name="uq_forge_reports_trigger"),
    )
    op.create_index(
        "ix_forge_reports_next_at",
        "forge_reports",
        ["next_at"],
        postgresql_where=sa.text("wanted > reported"),
    )
    op.create_index(
        "ix_forge_reports_repository", "forge_reports", ["forge", "repository", "issue", "pull_number"]
    )
    op.create_table(
        "forge_deliveries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("forge", sa.Text(), nullable=False),
        sa.Column("delivery", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("payload", JSONB(), nullable=False),
        sa.Column("status", sa.Text(), server_default="pending", nullable=False),
        sa.Column("result", sa.Text(), server_default="", nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        _time("next_at"),
        _time("received_at"),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint(
            "status IN ('pending', 'done', 'ignored', 'failed')", name=op.f("ck_forge_deliveries_status")
        ),
        sa.PrimaryKeyConstraint("id", name="pk_forge_deliveries"),
        sa.UniqueConstraint("forge", "delivery", name="uq_forge_deliveries_forge_delivery"),
        sa.UniqueConstraint("forge", "digest", name="uq_forge_deliveries_forge_digest"),
    )
    op.create_index(
        "ix_forge_deliveries_next_at",
        "forge_deliveries",
        ["next_at"],
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_index("ix_forge_deliveries_received_at", "forge_deliveries", ["received_at"])


def downgrade() -> None:
    op.drop_table("forge_deliveries")
    op.drop_table("forge_reports")
