"""Pull requests are followed until they are merged; rounds answer what is said about them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_TEXTS = postgresql.ARRAY(sa.Text())


def upgrade() -> None:
    op.add_column("forge_reports", sa.Column("root_run_id", sa.Uuid(), nullable=True))
    op.add_column("forge_reports", sa.Column("parents", _TEXTS, server_default="{}", nullable=False))
    op.create_foreign_key(
        op.f("fk_forge_reports_root_run_id_runs"),
        "forge_reports",
        "runs",
        ["root_run_id"],
        ["id"],
        ondelete="CASCADE",
    )
    op.create_index(op.f("ix_forge_reports_root_run_id"), "forge_reports", ["root_run_id"])
    op.create_table(
        "forge_reviews",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.Text(), server_default="watching", nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("head", sa.Text(), nullable=True),
        sa.Column("target", sa.Text(), nullable=True),
        sa.Column("rounds", sa.Integer(), server_default="0", nullable=False),
        sa.Column("round_run_id", sa.Uuid(), nullable=True),
        sa.Column("asked", _TEXTS, server_default="{}", nullable=False),
        sa.Column("answered", _TEXTS, server_default="{}", nullable=False),
        sa.Column("look_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_error", sa.Text(), server_default="", nullable=False),
        sa.Column("comment_id", sa.BigInteger(), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "state IN ('watching', 'working', 'approved', 'spent', 'stopped', 'ended')",
            name=op.f("ck_forge_reviews_state"),
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_forge_reviews_run_id_runs"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["round_run_id"],
            ["runs.id"],
            name=op.f("fk_forge_reviews_round_run_id_runs"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_forge_reviews")),
    )
    op.create_index(op.f("ix_forge_reviews_round_run_id"), "forge_reviews", ["round_run_id"])
    op.create_index(
        "ix_forge_reviews_look_at",
        "forge_reviews",
        ["look_at"],
        postgresql_where=sa.text("look_at IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_table("forge_reviews")
    op.drop_index(op.f("ix_forge_reports_root_run_id"), "forge_reports")
    op.drop_column("forge_reports", "parents")
    op.drop_column("forge_reports", "root_run_id")
