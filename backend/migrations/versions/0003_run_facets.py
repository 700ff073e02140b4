"""What runs are filtered by: their project and agent, computed by the database from what is stored."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_PROJECT = "(source ->> 'location'::text)"
_AGENT = """
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


def upgrade() -> None:
    op.add_column("runs", sa.Column("project", sa.Text(), sa.Computed(_PROJECT, persisted=True)))
    op.add_column("runs", sa.Column("agent_name", sa.Text(), sa.Computed(_AGENT, persisted=True)))


def downgrade() -> None:
    op.drop_column("runs", "agent_name")
    op.drop_column("runs", "project")
