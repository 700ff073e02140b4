"""Outcomes of merged pull requests, and the order in which results are merged."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "forge_merges",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("commit", sa.Text(), nullable=True),
        sa.Column("target", sa.Text(), nullable=True),
        sa.Column("merged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lines", sa.Integer(), nullable=True),
        sa.Column("edited_share", sa.Double(), nullable=True),
        sa.Column("reverted_commit", sa.Text(), nullable=True),
        sa.Column("reverted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("look_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=True),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_error", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_forge_merges_run_id_runs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_forge_merges")),
    )
    op.create_index(
        "ix_forge_merges_look_at",
        "forge_merges",
        ["look_at"],
        postgresql_where=sa.text("look_at IS NOT NULL"),
    )
    op.add_column("forge_reports", sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=True))
    op.execute("UPDATE forge_reports SET accepted_at = created_at WHERE pull_number IS NOT NULL")
    texts = postgresql.ARRAY(sa.Text())
    op.add_column("result_checks", sa.Column("after", texts, server_default="{}", nullable=False))
    # What was merged before is looked at, too.
    op.execute(
        "INSERT INTO forge_merges (run_id) SELECT run_id FROM forge_reports "
        "WHERE outcome = 'merged' AND cardinality(pushed) > 0"
    )


def downgrade() -> None:
    op.drop_column("result_checks", "after")
    op.drop_column("forge_reports", "accepted_at")
    op.drop_table("forge_merges")
