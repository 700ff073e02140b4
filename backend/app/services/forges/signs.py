"""Makes reviews due when something happens: each review that it may affect is looked at once all is quiet."""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.engine import Sessions
from app.db.models import ForgeReport, ForgeReview
from app.forges.deliveries import ReviewStirred
from app.forges.operator_file import ReviewRules
from app.forges.repositories import Member

_SLEEPING = ("working", "ended")
"""States in which events change nothing: a round's own report wakes its review, and an end stays one.

What people push while a round works is judged all the same.
"""


async def stir(sessions: Sessions, member: Member, rules: ReviewRules, sign: ReviewStirred) -> int:
    """Make the reviews due that an event may affect, and return how many there are."""
    roots = select(ForgeReport.run_id).where(
        ForgeReport.forge == member.repository.forge,
        ForgeReport.repository == member.repository.name,
        ForgeReport.root_run_id.is_(None),
    )
    if sign.number is not None:
        roots = roots.where(ForgeReport.pull_number == sign.number)
    conditions: list[ColumnElement[bool]] = [ForgeReview.run_id.in_(roots)]
    if sign.commit is not None:
        conditions.append(ForgeReview.head == sign.commit)
    if sign.branch is not None:
        conditions.append(ForgeReview.target == sign.branch)
    async with sessions.begin() as session:
        sleeping = _SLEEPING[1:] if sign.moved else _SLEEPING
        return await _mark(session, rules, ForgeReview.state.not_in(sleeping), *conditions)


async def wake(session: AsyncSession, run_id: UUID, rules: ReviewRules) -> None:
    """Make the review of a run's pull request due soon, whatever its state; start it if there is none."""
    at = _quiet(rules)
    new = insert(ForgeReview).values(run_id=run_id, look_at=at)
    known = new.on_conflict_do_update(index_elements=[ForgeReview.run_id], set_={"look_at": at, "tries": 0})
    await session.execute(known)


async def _mark(session: AsyncSession, rules: ReviewRules, *conditions: ColumnElement[bool]) -> int:
    # Each event postpones the look, so that one round answers everything that arrives together.
    statement = (
        update(ForgeReview)
        .where(*conditions)
        .values(look_at=_quiet(rules), tries=0)
        .returning(ForgeReview.run_id)
    )
    return len((await session.scalars(statement)).all())


def _quiet(rules: ReviewRules) -> ColumnElement[datetime]:
    return func.now() + timedelta(seconds=rules.settle_seconds)
