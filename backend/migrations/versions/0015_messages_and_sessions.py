"""Why a candidate was chosen; runs that several agents work on; messages to agents; sessions of agents."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_BEFORE = """
CASE
    WHEN (((agent -> 'script'::text) ->> 'title'::text) IS NOT NULL)
        THEN ('scripted (no model): '::text || ((agent -> 'script'::text) ->> 'title'::text))
    ELSE (
        CASE COALESCE((agent ->> 'backend'::text), 'auto'::text)
            WHEN 'auto'::text THEN 'pydantic-ai'::text
            ELSE (agent ->> 'backend'::text)
        END || COALESCE((' '::text || (agent ->> 'model'::text)), ''::text))
END
"""
_SEVERAL = "WHEN (jsonb_typeof((agent -> 'candidates'::text)) = 'array'::text) THEN 'several agents'::text"
_AFTER = _BEFORE.replace("    ELSE (\n", f"    {_SEVERAL}\n    ELSE (\n")


def upgrade() -> None:
    op.drop_column("runs", "agent_name")
    op.add_column("runs", sa.Column("agent_name", sa.Text(), sa.Computed(_AFTER, persisted=True)))
    op.add_column("attempts", sa.Column("choice_reason", sa.Text(), server_default="", nullable=False))
    op.add_column("attempts", sa.Column("steered", sa.Boolean(), server_default="false", nullable=False))
    op.add_column("candidates", sa.Column("continued", sa.Boolean(), server_default="false", nullable=False))
    op.add_column("candidates", sa.Column("session_note", sa.Text(), server_default="", nullable=False))
    op.create_table(
        "agent_messages",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default="queued", nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("phase", sa.Text()),
        sa.Column("attempt", sa.Integer()),
        sa.Column("sent_by", sa.Text(), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint("mode IN ('steer', 'queue')", name=op.f("ck_agent_messages_mode")),
        sa.CheckConstraint(
            "status IN ('queued', 'delivered', 'refused')", name=op.f("ck_agent_messages_status")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_agent_messages_run_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_agent_messages"),
    )
    op.create_index("ix_agent_messages_run_id_sent_at", "agent_messages", ["run_id", "sent_at"])


def downgrade() -> None:
    op.drop_table("agent_messages")
    op.drop_column("candidates", "session_note")
    op.drop_column("candidates", "continued")
    op.drop_column("attempts", "steered")
    op.drop_column("attempts", "choice_reason")
    op.drop_column("runs", "agent_name")
    op.add_column("runs", sa.Column("agent_name", sa.Text(), sa.Computed(_BEFORE, persisted=True)))
