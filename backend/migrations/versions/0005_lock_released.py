"""Tell waiting workers when a run's lock is released.

The queue tells of new jobs only. A job that is enqueued while the run's old one still ends would wait for the
next poll, a second later.
"""

from alembic import op
from sqlalchemy import text

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_FUNCTION = """
CREATE FUNCTION phaserunner_notify_lock_released() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    waiting bigint;
BEGIN
    SELECT id INTO waiting FROM procrastinate_jobs
    WHERE queueing_lock = OLD.lock AND status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now());
    IF waiting IS NOT NULL THEN
        PERFORM pg_notify(
            'procrastinate_queue_v1#' || OLD.queue_name,
            json_build_object('type', 'job_inserted', 'job_id', waiting)::text
        );
    END IF;
    RETURN NULL;
END
$$
"""
_TRIGGER = """
CREATE TRIGGER phaserunner_lock_released AFTER DELETE ON procrastinate_jobs
FOR EACH ROW WHEN (OLD.status = 'doing' AND OLD.lock IS NOT NULL)
EXECUTE FUNCTION phaserunner_notify_lock_released()
"""


def upgrade() -> None:
    op.execute(text(_FUNCTION))
    op.execute(text(_TRIGGER))


def downgrade() -> None:
    op.execute(text("DROP TRIGGER phaserunner_lock_released ON procrastinate_jobs"))
    op.execute(text("DROP FUNCTION phaserunner_notify_lock_released"))
