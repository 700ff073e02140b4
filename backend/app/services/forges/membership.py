"""Brings what is recorded of repositories to the operator's file: new names, and work that waited for it.

A process reads the file once, when it starts, so this happens once for each process. Until then, rows of a
repository that the file does not name sleep and cost nothing.
"""

from typing import Any

from sqlalchemy import Select, Update, func, literal, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.engine import Sessions
from app.db.models import ForgeMerge, ForgeReport, ForgeReview
from app.forges.repositories import Member, Members, not_followed, not_in_file


class MembershipChore:
    """Does this once; any number of processes can do so.

    Args:
        sessions: opens short transactions.
        members: the repositories that take part.
    """

    def __init__(self, sessions: Sessions, members: Members) -> None:
        self._sessions = sessions
        self._members = members
        self._is_done = False

    async def __call__(self) -> int:
        """Return how many rows go on or have a new name; after the first success there is nothing to do."""
        if self._is_done:
            return 0
        async with self._sessions.begin() as session:
            changed = sum([await _go_on_with(session, each) for each in self._members.every])
        self._is_done = True
        return changed


async def _go_on_with(session: AsyncSession, member: Member) -> int:
    report, own = ForgeReport, _of(member)
    due = {"look_at": func.now(), "tries": 0, "last_error": ""}
    waits = update(report).where(report.run_id.in_(own), report.wanted > report.reported)
    statements = [
        _asleep(ForgeMerge, member, own).values(due),
        waits.where(_says_so(report, member)).values(next_at=func.now(), tries=0),
        update(report)
        .where(report.run_id.in_(own), report.repository != member.repository.name)
        .values(repository=member.repository.name),
    ]
    if member.repository.review is not None:
        statements.append(_asleep(ForgeReview, member, own).values(due))
    changed = [await session.execute(each.returning(literal(1))) for each in statements]
    return sum(len(each.all()) for each in changed)


def _of(member: Member) -> Select[Any]:
    """Select the runs of a repository, by any name that it has had."""
    return select(ForgeReport.run_id).where(
        ForgeReport.forge == member.repository.forge,
        func.lower(ForgeReport.repository).in_(member.names),
    )


def _asleep(table: type[ForgeReview] | type[ForgeMerge], member: Member, own: Select[Any]) -> Update:
    return update(table).where(table.run_id.in_(own), table.look_at.is_(None), _says_so(table, member))


def _says_so(table: type[ForgeReview] | type[ForgeMerge] | type[ForgeReport], member: Member) -> Any:
    """Return the condition that a row waits for the file, as its error says."""
    told = [said(each).lower() for each in member.names for said in (not_in_file, not_followed)]
    return func.lower(table.last_error).in_(told)
