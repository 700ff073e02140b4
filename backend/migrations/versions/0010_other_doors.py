"""What a run of another kind than a sprint is defined by, and what its attempts hold and close."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("definition", JSONB))
    op.add_column("attempts", sa.Column("details", JSONB))
    op.add_column("attempts", sa.Column("closing", sa.Text))
    op.create_check_constraint("closing", "attempts", "closing IN ('condition', 'human', 'error')")


def downgrade() -> None:
    op.drop_constraint("closing", "attempts", type_="check")
    op.drop_column("attempts", "closing")
    op.drop_column("attempts", "details")
    op.drop_column("runs", "definition")
