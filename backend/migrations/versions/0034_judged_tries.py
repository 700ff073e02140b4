"""Pushes of other people without a verdict are judged again, a limited number of times."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "forge_reviews", sa.Column("judged_tries", sa.Integer(), server_default="0", nullable=False)
    )


def downgrade() -> None:
    op.drop_column("forge_reviews", "judged_tries")
