"""Records what became of pull requests."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import ForgeMerge, ForgeReport
from app.forges.deliveries import Ended
from app.forges.port import PullRequest
from app.forges.repositories import Member


async def note_outcome(session: AsyncSession, run_id: UUID, pull: PullRequest) -> None:
    """Record the outcome of a closed pull request for its run and rounds, unless a delivery already did."""
    row = ForgeReport
    of_pull = (row.run_id == run_id) | (row.root_run_id == run_id)
    values = {
        "outcome": "merged" if pull.merged else "closed",
        "outcome_at": pull.ended_at or datetime.now(UTC),
    }
    await session.execute(update(row).where(of_pull, row.outcome_at.is_(None)).values(values))
    await _follow(session, of_pull)
    await _let_go_on(session, [run_id])


async def note_delivered(session: AsyncSession, member: Member, told: Ended) -> Sequence[UUID]:
    """Record the outcome that a delivery reports, and return the runs of the pull request that it changes.

    Deliveries arrive in any order: one that is older than the known outcome changes nothing.
    """
    row = ForgeReport
    statement = (
        update(row)
        .where(
            row.forge == member.repository.forge,
            row.repository == member.repository.name,
            row.pull_number == told.number,
            or_(row.outcome_at.is_(None), row.outcome_at <= told.at),
        )
        .values(outcome=told.outcome, outcome_by=told.user, outcome_at=told.at)
        .returning(row.run_id)
    )
    runs = list(await session.scalars(statement))
    await _follow(session, row.run_id.in_(runs))
    await _let_go_on(session, runs)
    return runs


async def _follow(session: AsyncSession, which: ColumnElement[bool]) -> None:
    """Make merged results due for comparison with what was delivered; they are then followed for 30 days."""
    row = ForgeReport
    merged = select(row.run_id).where(which, row.outcome == "merged", func.cardinality(row.pushed) > 0)
    await session.execute(insert(ForgeMerge).from_select(["run_id"], merged).on_conflict_do_nothing())


async def _let_go_on(session: AsyncSession, ended: Sequence[UUID]) -> None:
    """Make the results due that wait for the end of these runs' pull requests."""
    row = ForgeReport
    waiting = update(row).where(row.after.overlap(ended), row.wanted > row.reported)
    await session.execute(waiting.values(next_at=func.now()))
