"""Backlog: items, what they depend on, limits of projects; results that were judged again."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

revision = "0025"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    now = sa.func.now()
    op.create_table(
        "backlog_items",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("request", JSONB(), nullable=False),
        sa.Column("origin", JSONB()),
        sa.Column("priority", sa.Integer(), server_default="0", nullable=False),
        sa.Column("status", sa.Text(), server_default="waiting", nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), server_default=now, nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=now, nullable=False),
        sa.CheckConstraint(
            "status IN ('waiting', 'starting', 'started', 'removed')", name="ck_backlog_items_status"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_backlog_items"),
    )
    op.create_index(
        "ix_backlog_items_project",
        "backlog_items",
        ["project", "next_at"],
        postgresql_where=sa.text("status IN ('waiting', 'starting')"),
    )
    op.create_table(
        "backlog_dependencies",
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("needs", sa.Uuid(), nullable=False),
        sa.Column("until", sa.Text(), nullable=False),
        sa.CheckConstraint("until IN ('accepted', 'merged')", name="ck_backlog_dependencies_until"),
        sa.ForeignKeyConstraint(
            ["item_id"], ["backlog_items.id"], name="fk_backlog_dependencies_item_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("item_id", "needs", name="pk_backlog_dependencies"),
    )
    op.create_index("ix_backlog_dependencies_needs", "backlog_dependencies", ["needs"])
    op.create_table(
        "backlog_projects",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("paused_at", sa.DateTime(timezone=True)),
        sa.Column("paused_by", sa.Text()),
        sa.Column("running", sa.Integer()),
        sa.Column("waiting_for_humans", sa.Integer()),
        sa.Column("open_pull_requests", sa.Integer()),
        sa.Column("per_day", sa.Integer()),
        sa.PrimaryKeyConstraint("project", name="pk_backlog_projects"),
    )
    op.create_table(
        "result_checks",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("result_commit", sa.Text(), nullable=False),
        sa.Column("branch", sa.Text(), nullable=False),
        sa.Column("commit", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("conflicts", ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("verdict", sa.Text()),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), server_default=now, nullable=False),
        sa.CheckConstraint("state IN ('clean', 'conflicts', 'contained')", name="ck_result_checks_state"),
        sa.CheckConstraint("verdict IN ('passed', 'failed', 'errored')", name="ck_result_checks_verdict"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_result_checks_run_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", name="pk_result_checks"),
    )


def downgrade() -> None:
    op.drop_table("result_checks")
    op.drop_table("backlog_projects")
    op.drop_table("backlog_dependencies")
    op.drop_table("backlog_items")
