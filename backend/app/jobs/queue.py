"""Enqueues and aborts jobs inside our own transactions; the job queue's tables are in the same database."""

import json
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
        ROW(CAST(:queue AS varchar), CAST(:task AS varchar), 0, CAST(:lock AS text), CAST(:lock AS text),
            CAST(:args AS jsonb), CAST(:at AS timestamptz))
    ]::procrastinate_job_to_defer_v1[])
    """
)
_ABORT = text(
    """
    SELECT procrastinate_cancel_job_v1(id, abort => true, delete_job => true)
    FROM procrastinate_jobs WHERE lock = :lock AND status IN ('todo', 'doing')
    """
)


async def enqueue_advance(session: AsyncSession, run_id: UUID, *, at: datetime | None = None) -> bool:
    """Enqueue the job that moves a run on; it exists when the session's transaction commits.

    The caller holds the run's row lock: only then is a job that is already queued sure to see what this
    transaction changes. The queue's official way wants a psycopg connection; this one calls the versioned
    SQL function behind it.

    Returns:
        False when a job for the run is queued already, which is as good.
    """
    parameters = {
        "queue": QUEUE,
        "task": ADVANCE_TASK,
        "lock": str(run_id),
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
