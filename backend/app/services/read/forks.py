"""Reads the runs that were forked from a run."""

from uuid import UUID

from sqlalchemy import Text, literal_column, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import Run
from app.schemas.api.run_details import ForkView
from app.schemas.api.runs import ForkOrigin

MOST_FORKS = 20
"""The number of forks that the page of a run lists."""


async def load_forks(session: AsyncSession, run_id: UUID) -> list[ForkView]:
    """Return the newest forks of a run, newest first."""
    # The same expression as in the index, so that the database uses the index.
    origin = literal_column("runs.forked_from ->> 'run_id'", Text())
    statement = (
        select(Run.id, Run.name, Run.status, Run.forked_from)
        .where(origin == str(run_id))
        .order_by(Run.created_at.desc(), Run.id)
        .limit(MOST_FORKS)
    )
    rows = (await session.execute(statement)).all()
    starts = [ForkOrigin.model_validate(row.forked_from) for row in rows]
    return [
        ForkView(run_id=row.id, name=row.name, status=row.status, phase=start.phase, attempt=start.attempt)
        for row, start in zip(rows, starts, strict=True)
    ]
