"""Finds the runs above and below a run: the loop that waits for it, and its subtasks."""

from uuid import UUID

from sqlalchemy import CTE, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import Run
from app.jobs.queue import enqueue_advance
from app.schemas.runs import RunStatus


async def wake_parent(session: AsyncSession, run: Run) -> None:
    """Enqueue a job for the loop that waits for this run, because the run is over.

    This does not lock the loop, whose worker locks the loop first and its subtask second. A wake-up that is
    lost for this reason is made up for by the search for runs without a job.
    """
    parent = await session.get(Run, run.parent_run_id) if run.parent_run_id else None
    if parent is not None and parent.paused_at is None and not RunStatus(parent.status).is_final:
        await enqueue_advance(session, parent.id, first=True)


async def unfinished_subtasks(session: AsyncSession, run_id: UUID) -> list[Run]:
    """Lock and return the direct subtasks of a run that are not over.

    A subtask that ends while this waits for its lock is not included.
    """
    wanted = select(Run).where(Run.parent_run_id == run_id, Run.finished_at.is_(None)).order_by(Run.id)
    locked = wanted.with_for_update().execution_options(populate_existing=True)
    return list((await session.scalars(locked)).all())


def family_of(run_id: UUID) -> CTE:
    """Return a query for the ids of a run and of all subtasks below it."""
    found = select(Run.id).where(Run.id == run_id).cte(recursive=True)
    return found.union(select(Run.id).join(found, Run.parent_run_id == found.c.id))


async def descendants(session: AsyncSession, run_id: UUID) -> list[Run]:
    """Return the subtasks of a run at all levels, oldest first."""
    below = select(Run.id).where(Run.parent_run_id == run_id).cte(recursive=True)
    below = below.union(select(Run.id).join(below, Run.parent_run_id == below.c.id))
    wanted = select(Run).join(below, Run.id == below.c.id).order_by(Run.created_at, Run.id)
    return list((await session.scalars(wanted)).all())
