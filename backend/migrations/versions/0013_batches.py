"""A key for each batch of events, so that no batch is stored twice."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("events", sa.Column("batch", sa.Uuid(), nullable=True))
    op.create_index(
        "ux_events_run_id_batch",
        "events",
        ["run_id", "batch"],
        unique=True,
        postgresql_where=sa.text("batch IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ux_events_run_id_batch", table_name="events")
    op.drop_column("events", "batch")
