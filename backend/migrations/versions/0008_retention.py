"""What was trimmed of runs that are over, and when."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("progress_trimmed_at", sa.DateTime(timezone=True)))
    op.add_column("runs", sa.Column("files_trimmed_at", sa.DateTime(timezone=True)))
    op.create_index(
        "ix_runs_finished_at", "runs", ["finished_at"], postgresql_where=sa.text("finished_at IS NOT NULL")
    )


def downgrade() -> None:
    op.drop_index("ix_runs_finished_at", "runs")
    op.drop_column("runs", "files_trimmed_at")
    op.drop_column("runs", "progress_trimmed_at")
