"""Reviewers add tests to the known failures of a repository."""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "known_failures",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("test", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("added_by", sa.Text(), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_known_failures")),
    )
    op.create_index(op.f("ix_known_failures_project"), "known_failures", ["project"], postgresql_using="hash")


def downgrade() -> None:
    op.drop_table("known_failures")
