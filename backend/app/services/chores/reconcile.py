"""Enqueues a job for every run that should advance and has none."""

from sqlalchemy import and_, exists, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.db.engine import Sessions
from app.db.models import Run
from app.jobs.queue import enqueue_advance
from app.schemas.runs import RunStatus

BATCH = 100

_HAS_NO_JOB = text(
    "NOT EXISTS (SELECT 1 FROM procrastinate_jobs "
    "WHERE lock = CAST(runs.id AS text) AND status IN ('todo', 'doing'))"
)


class Reconcile:
    """Finds runnable runs without a job, so that a job is lost for at most the time between two calls."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def __call__(self) -> int:
        """Enqueue the missing jobs, and return how many there were."""
        async with self._sessions.begin() as session:
            return await _enqueue_lacking(session)


async def _enqueue_lacking(session: AsyncSession) -> int:
    subtask = aliased(Run)
    # A loop rests while its subtask runs, and the subtask's end wakes it. If that wake-up was lost, the loop
    # has no job once the subtask is over.
    rests = exists().where(subtask.parent_run_id == Run.id, subtask.finished_at.is_(None))
    runnable = and_(Run.status.in_([RunStatus.QUEUED, RunStatus.ACTIVE]), Run.paused_at.is_(None), ~rests)
    # A locked row is being written right now, together with the job that it needs.
    statement = (
        select(Run.id)
        .where(runnable, _HAS_NO_JOB)
        .order_by(Run.created_at)
        .limit(BATCH)
        .with_for_update(skip_locked=True)
    )
    lacking = (await session.scalars(statement)).all()
    for run_id in lacking:
        await enqueue_advance(session, run_id)
    return len(lacking)
