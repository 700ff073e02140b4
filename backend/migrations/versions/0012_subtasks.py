"""Attempts that rest until a subtask is over."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_BEFORE = "'started', 'agent_failed', 'produced', 'evaluating', 'passed', 'failed'"


def upgrade() -> None:
    op.drop_constraint("status", "attempts", type_="check")
    op.create_check_constraint("status", "attempts", f"status IN ({_BEFORE}, 'delegated')")


def downgrade() -> None:
    op.execute("UPDATE attempts SET status = 'failed', closing = 'error' WHERE status = 'delegated'")
    op.drop_constraint("status", "attempts", type_="check")
    op.create_check_constraint("status", "attempts", f"status IN ({_BEFORE})")
