"""Workers show what their agents have changed so far to services on other machines."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "workspace_looks",
        sa.Column("claim", sa.Uuid(), nullable=False),
        sa.Column("candidate", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("wanted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("taken_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("diff", sa.LargeBinary(), nullable=True),
        sa.Column("problem", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint("candidate >= 0", name=op.f("ck_workspace_looks_candidate")),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_workspace_looks_run_id_runs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("claim", "candidate", name=op.f("pk_workspace_looks")),
        prefixes=["UNLOGGED"],
    )
    op.create_index(op.f("ix_workspace_looks_run_id"), "workspace_looks", ["run_id"])


def downgrade() -> None:
    op.drop_table("workspace_looks")
