"""Enqueues, aborts and takes over jobs in our own transactions; the queue is in the same database."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

QUEUE = "phaserunner"
ADVANCE_TASK = "advance"

_DEFER = text(
    """
    SELECT procrastinate_defer_jobs_v1(ARRAY[
        ROW(CAST(:queue AS varchar), CAST(:task AS varchar), CAST(:priority AS integer),
            CAST(:lock AS text), CAST(:lock AS text), CAST(:args AS jsonb), CAST(:at AS timestamptz))
    ]::procrastinate_job_to_defer_v1[])
    """
)
_ABORT = text(
    """
    SELECT procrastinate_cancel_job_v1(id, abort => true, delete_job => true)
    FROM procrastinate_jobs WHERE lock = :lock AND status IN ('todo', 'doing')
    """
)
_RUNNING = text(
    """
    SELECT job.id, job.lock, worker.id, worker.last_heartbeat,
           worker.last_heartbeat < now() - make_interval(secs => :silent)
    FROM procrastinate_jobs job LEFT JOIN procrastinate_workers worker ON worker.id = job.worker_id
    WHERE job.status = 'doing' AND job.queue_name = :queue
    """
)
_TAKE_AWAY = text(
    """
    DELETE FROM procrastinate_jobs
    WHERE id = :job AND status = 'doing' AND worker_id IS NOT DISTINCT FROM :worker
    RETURNING id
    """
)


@dataclass(frozen=True, slots=True)
class Held:
    """What one process works on: its number in the queue, None while it has none, and its running jobs."""

    worker_id: int | None
    jobs: frozenset[int]


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that a worker has begun.

    Attributes:
        id: its number.
        run_id: the run that it moves on.
        worker_id: whose it is; None when that worker has left.
        heartbeat: what the worker wrote last.
        overdue: by the database's clock the worker is silent for too long.
    """

    id: int
    run_id: UUID
    worker_id: int | None
    heartbeat: datetime | None
    overdue: bool


async def running_jobs(session: AsyncSession, silent_seconds: float) -> Sequence[RunningJob]:
    """Read the jobs that are worked on."""
    rows = await session.execute(_RUNNING, {"queue": QUEUE, "silent": silent_seconds})
    return [
        RunningJob(number, UUID(lock), worker, heartbeat, bool(overdue))
        for number, lock, worker, heartbeat, overdue in rows
    ]


async def take_job_away(session: AsyncSession, job: RunningJob) -> bool:
    """Take a job from a worker that does not work on it any more.

    It is deleted, not put back: a worker that wakes up finishes *its* job, and must not finish another's.

    Returns:
        False when the job has ended or was taken away already.
    """
    parameters = {"job": job.id, "worker": job.worker_id}
    return (await session.execute(_TAKE_AWAY, parameters)).scalar_one_or_none() is not None


async def enqueue_advance(
    session: AsyncSession, run_id: UUID, *, at: datetime | None = None, first: bool = False
) -> bool:
    """Enqueue the job that moves a run on; it exists when the session's transaction commits.

    The caller holds the run's row lock: only then is a job that is already queued sure to see what this
    transaction changes. The queue's official way wants a psycopg connection; this one calls the versioned
    SQL function behind it.

    Args:
        session: its transaction.
        run_id: the run.
        at: not before this moment.
        first: before the jobs of other runs, because this one was at work already.

    Returns:
        False when a job for the run is queued already, which is as good.
    """
    parameters = {
        "queue": QUEUE,
        "task": ADVANCE_TASK,
        "lock": str(run_id),
        "priority": 1 if first else 0,
        "args": json.dumps({"run_id": str(run_id)}),
        "at": at,
    }
    try:
        async with session.begin_nested():
            await session.execute(_DEFER, parameters)
    except IntegrityError:
        return False
    return True


async def abort_advance(session: AsyncSession, run_id: UUID) -> None:
    """Take a run's queued job away and ask its running one to stop, when the transaction commits."""
    await session.execute(_ABORT, {"lock": str(run_id)})
