"""What became of the phases of runs that are over, in their rows: metrics of many runs read nothing else."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

# As services/record/cases.py counts: [phase, judged attempts, the first that passed before a human helped,
# whether the machine gave up, whether a human was asked] for each phase that was judged or escalated.
FILL = """
WITH tried AS (
    SELECT run_id, phase, count(*) FILTER (WHERE status IN ('passed', 'failed')) AS judged,
           min(number) FILTER (WHERE status = 'passed') AS passed_at
    FROM attempts GROUP BY run_id, phase
), asked AS (
    SELECT run_id, phase, min(attempt) FILTER (
               WHERE reason_kind IN ('attempts_exhausted', 'no_progress', 'budget_exhausted')
           ) AS helped_at
    FROM escalations GROUP BY run_id, phase
), cases AS (
    SELECT coalesce(t.run_id, a.run_id) AS run_id, coalesce(t.phase, a.phase) AS phase,
           coalesce(t.judged, 0) AS judged,
           CASE WHEN a.helped_at IS NULL OR t.passed_at <= a.helped_at THEN t.passed_at END AS passed_at,
           a.helped_at IS NOT NULL AS gave_up, a.run_id IS NOT NULL AS escalated
    FROM tried t FULL JOIN asked a ON a.run_id = t.run_id AND a.phase = t.phase
    WHERE coalesce(t.judged, 0) > 0 OR a.run_id IS NOT NULL
), made AS (
    SELECT run_id,
           jsonb_agg(
               jsonb_build_array(phase, judged, passed_at, gave_up, escalated) ORDER BY phase
           ) AS outcomes
    FROM cases GROUP BY run_id
)
UPDATE runs SET outcomes = coalesce(made.outcomes, '[]')
FROM runs r LEFT JOIN made ON made.run_id = r.id
WHERE r.id = runs.id AND runs.status IN ('completed', 'failed', 'cancelled')
"""


def upgrade() -> None:
    op.add_column("runs", sa.Column("outcomes", postgresql.JSONB()))
    op.execute(FILL)
    op.create_index("ix_runs_without_outcomes", "runs", ["id"], postgresql_where=sa.text("outcomes IS NULL"))


def downgrade() -> None:
    op.drop_index("ix_runs_without_outcomes", "runs")
    op.drop_column("runs", "outcomes")
