"""Records what became of pull requests that were read from their forge."""

from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import ForgeReport
from app.forges.port import PullRequest


async def note_outcome(session: AsyncSession, run_id: UUID, pull: PullRequest) -> None:
    """Note the outcome of a run's closed pull request and of its rounds, unless a delivery told of it."""
    row = ForgeReport
    of_pull = (row.run_id == run_id) | (row.root_run_id == run_id)
    values = {
        "outcome": "merged" if pull.merged else "closed",
        "outcome_at": pull.ended_at or datetime.now(UTC),
    }
    await session.execute(update(row).where(of_pull, row.outcome_at.is_(None)).values(values))
