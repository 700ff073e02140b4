"""A run tells what became of a default share of hidden test cases."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("held_out_note", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("runs", "held_out_note")
