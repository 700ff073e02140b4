"""What other people push to the branch of a pull request is judged by itself."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("forge_reviews", sa.Column("judged_commit", sa.Text(), nullable=True))
    op.add_column("forge_reviews", sa.Column("judged_status", sa.Text(), nullable=True))
    op.add_column("forge_reviews", sa.Column("judged_reason", sa.Text(), server_default="", nullable=False))
    op.add_column("forge_reviews", sa.Column("judged_at", sa.DateTime(timezone=True), nullable=True))
    op.create_check_constraint(
        op.f("ck_forge_reviews_judged_status"),
        "forge_reviews",
        "judged_status IN ('passed', 'failed', 'errored', 'asks', 'conflicts')",
    )


def downgrade() -> None:
    op.drop_constraint(op.f("ck_forge_reviews_judged_status"), "forge_reviews")
    op.drop_column("forge_reviews", "judged_at")
    op.drop_column("forge_reviews", "judged_reason")
    op.drop_column("forge_reviews", "judged_status")
    op.drop_column("forge_reviews", "judged_commit")
