"""A share of a base's own tests can be held out."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("held_out_tests", sa.Column("hidden_cases", JSONB(), nullable=True))


def downgrade() -> None:
    op.drop_column("held_out_tests", "hidden_cases")
