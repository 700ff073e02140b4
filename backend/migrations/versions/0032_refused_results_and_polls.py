"""Refused results go back to their agents, and forges are polled for labels and commands."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    runs = postgresql.ARRAY(sa.Uuid())
    op.add_column("forge_reports", sa.Column("after", runs, server_default="{}", nullable=False))
    op.add_column("forge_deliveries", sa.Column("asks", sa.Text(), nullable=True))
    op.add_column("forge_deliveries", sa.Column("asked_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index(
        "ix_forge_deliveries_asks",
        "forge_deliveries",
        ["forge", "asks"],
        postgresql_where=sa.text("asks IS NOT NULL"),
    )
    op.create_table(
        "forge_polls",
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("forge", sa.Text(), nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_error", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("place", name=op.f("pk_forge_polls")),
    )


def downgrade() -> None:
    op.drop_table("forge_polls")
    op.drop_index("ix_forge_deliveries_asks", table_name="forge_deliveries")
    op.drop_column("forge_deliveries", "asked_at")
    op.drop_column("forge_deliveries", "asks")
    op.drop_column("forge_reports", "after")
