"""What projects spend in a day, work that agents report themselves, and waits for a provider."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_FILL = """
    INSERT INTO daily_spending (day, project, requests, tokens, cost_usd)
    SELECT (line.at AT TIME ZONE 'UTC')::date, COALESCE(runs.source ->> 'location', ''), count(*),
           COALESCE(sum(COALESCE(line.input_tokens, 0) + COALESCE(line.output_tokens, 0)), 0),
           COALESCE(sum(line.cost_usd), 0)
    FROM model_requests AS line LEFT JOIN runs ON runs.id = line.run_id
    GROUP BY 1, 2
"""


def upgrade() -> None:
    op.add_column(
        "model_requests", sa.Column("requests", sa.BigInteger(), server_default="1", nullable=False)
    )
    op.add_column(
        "model_requests", sa.Column("reported", sa.Boolean(), server_default="false", nullable=False)
    )
    op.create_table(
        "daily_spending",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("requests", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("cost_usd", sa.Numeric(18, 8), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("day", "project", name="pk_daily_spending"),
    )
    op.execute(_FILL)
    op.add_column(
        "attempts", sa.Column("unavailable_failures", sa.Integer(), server_default="0", nullable=False)
    )
    op.add_column("attempts", sa.Column("unavailable_since", sa.DateTime(timezone=True)))
    op.add_column("attempts", sa.Column("provider_reset_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    for name in ("provider_reset_at", "unavailable_since", "unavailable_failures"):
        op.drop_column("attempts", name)
    op.drop_table("daily_spending")
    op.drop_column("model_requests", "reported")
    op.drop_column("model_requests", "requests")
