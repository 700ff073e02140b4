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


def downgrade() -> None:
    op.drop_column("attempts", "choice_reason")
    op.drop_column("runs", "agent_name")
    op.add_column("runs", sa.Column("agent_name", sa.Text(), sa.Computed(_BEFORE, persisted=True)))
