"""The forks of a run are found without reading every run."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_runs_forked_from", "runs", [sa.text("(forked_from ->> 'run_id')")])


def downgrade() -> None:
    op.drop_index("ix_runs_forked_from", table_name="runs")
