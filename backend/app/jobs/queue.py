"""Enqueues, aborts and takes over jobs in the caller's transaction: the queue is in the same database."""

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
_BRING_FORWARD = text(
    """
    UPDATE procrastinate_jobs
    SET scheduled_at = CAST(:at AS timestamptz), priority = greatest(priority, CAST(:priority AS integer))
    WHERE queueing_lock = :lock AND status = 'todo'
      AND scheduled_at > coalesce(CAST(:at AS timestamptz), now())
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
    """The work that one process holds.

    Attributes:
        worker_id: the number of the process's worker in the queue; None while it has none.
        jobs: the numbers of the jobs that run in the process.
    """

    worker_id: int | None
    jobs: frozenset[int]


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that a worker has started.

    Attributes:
        id: the job's number.
        run_id: the run that the job advances.
        worker_id: the worker that holds the job; None when that worker has signed off.
        heartbeat: the last heartbeat that the worker wrote.
        overdue: whether the worker has been silent for too long by the database's clock.
    """

    id: int
    run_id: UUID
    worker_id: int | None
    heartbeat: datetime | None
    overdue: bool


async def running_jobs(session: AsyncSession, silent_seconds: float) -> Sequence[RunningJob]:
    """Read all running jobs; `silent_seconds` is the age at which a heartbeat is overdue."""
    rows = await session.execute(_RUNNING, {"queue": QUEUE, "silent": silent_seconds})
    return [
        RunningJob(number, UUID(lock), worker, heartbeat, bool(overdue))
        for number, lock, worker, heartbeat, overdue in rows
    ]


async def take_job_away(session: AsyncSession, job: RunningJob) -> bool:
    """Delete a job that its worker no longer works on.

    The job is not put back under the same number: a worker that wakes up would finish that number, and with
    it another worker's job.

    Returns:
        False when the job has ended or was already taken over.
    """
    parameters = {"job": job.id, "worker": job.worker_id}
    return (await session.execute(_TAKE_AWAY, parameters)).scalar_one_or_none() is not None


async def enqueue_advance(
    session: AsyncSession, run_id: UUID, *, at: datetime | None = None, first: bool = False
) -> bool:
    """Enqueue the job that advances a run; the job exists once the session's transaction commits.

    The caller must hold the run's row lock: only then is a job that is already queued sure to see what this
    transaction changes. The queue's own API needs a psycopg connection, so this function calls the versioned
    SQL function behind that API.

    A job that is already queued for later is brought forward. For example, a person may decide while the run
    still has the job that awaits the end of a provider's limit.

    Args:
        session: the session whose transaction enqueues the job.
        run_id: the run to advance.
        at: the earliest time at which the job may start; None for now.
        first: whether the job goes before those of other runs, because this run was already being worked on.

    Returns:
        False when a job for the run is already queued, which serves the same purpose.
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
        await session.execute(_BRING_FORWARD, parameters)
        return False
    return True


async def abort_advance(session: AsyncSession, run_id: UUID) -> None:
    """Delete a run's queued job and ask its running job to stop, once the transaction commits."""
    await session.execute(_ABORT, {"lock": str(run_id)})
