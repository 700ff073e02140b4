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
    """Note the outcome of a run's closed pull request and of its rounds, unless a delivery told of it."""
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
    """Note the outcome that a delivery tells of; give the runs of the pull request that did not know it.

    Deliveries come in any order: what is older than the known outcome says nothing new.
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
    """Let merged results be compared with what was delivered, and followed for 30 days."""
    row = ForgeReport
    merged = select(row.run_id).where(which, row.outcome == "merged", func.cardinality(row.pushed) > 0)
    await session.execute(insert(ForgeMerge).from_select(["run_id"], merged).on_conflict_do_nothing())


async def _let_go_on(session: AsyncSession, ended: Sequence[UUID]) -> None:
    """Let results that wait for the end of these be looked at."""
    row = ForgeReport
    waiting = update(row).where(row.after.overlap(ended), row.wanted > row.reported)
    await session.execute(waiting.values(next_at=func.now()))
