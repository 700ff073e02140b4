"""Judges results in the order in which they would be merged.

Accepted results of a repository wait until people merge them. A new result is judged on the target's head
with the earlier ones merged in. If two results pass alone and break each other, the later one is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, func, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.db.engine import Sessions
from app.db.models import ForgeReport, Run
from app.forges.port import ForgeError
from app.schemas.api.result_checks import ResultCheckView
from app.services.execute.trees import RunTrees
from app.services.forges.newest import is_of_pull, newest_run, was_pushed
from app.services.review.rechecks import RecheckService
from app.workspaces.sources.earlier import EarlierResult

_TRIES = 3


@dataclass(frozen=True, slots=True)
class _Earlier:
    """A result that is merged earlier, as read from the database."""

    root_run_id: UUID
    run_id: UUID
    pull_number: int | None
    base: str
    head: str
    branch: str | None = None
    pushed: Sequence[str] = ()

    @property
    def known_as(self) -> str:
        """Return the name by which people know the result."""
        return _known_as(self.root_run_id, self.pull_number)


class MergeQueue:
    """Admits results to the queue. They are ordered by `accepted_at`; a round has the place of its first run.

    Args:
        sessions: opens short transactions; none is open while a result is judged.
        rechecks: judges results on the present head of their target.
        trees: provides the runs' commits.
    """

    def __init__(self, sessions: Sessions, rechecks: RecheckService, trees: RunTrees) -> None:
        self._sessions = sessions
        self._rechecks = rechecks
        self._trees = trees

    async def admit(self, run_id: UUID, root_run_id: UUID) -> ResultCheckView:
        """Judge a result together with all earlier ones; a result that can be merged gets its place.

        Raises:
            ForgeError: other results were admitted during every attempt.
            NotFoundError, ConflictError, InvalidInputError, WorkspaceError: the result cannot be judged.
        """
        for _ in range(_TRIES):
            async with self._sessions() as session:
                earlier = await _earlier(session, root_run_id)
            check = await self._rechecks.recheck(run_id, after=[await self._found(each) for each in earlier])
            if check.problem or await self._let_in(run_id, root_run_id, earlier):
                return check
        raise ForgeError("other results came first while this one was judged; it is judged again")

    async def before(self, root_run_id: UUID) -> list[EarlierResult]:
        """Return the results that would be merged before a run's result, in order."""
        async with self._sessions() as session:
            earlier = await _earlier(session, root_run_id)
        return [await self._found(each) for each in earlier]

    async def result_of(self, run_id: UUID) -> EarlierResult:
        """Return the result of a completed run."""
        async with self._sessions() as session:
            run = await session.get_one(Run, run_id)
        return await self._found(_Earlier(run_id, run_id, None, run.base_commit, run.head_commit))

    async def waits_for(self, after: Sequence[UUID]) -> list[str]:
        """Return the names of those of these runs whose results are not merged yet, as people know them."""
        row = ForgeReport
        statement = select(row.run_id, row.pull_number).where(
            row.run_id.in_(after), row.outcome.is_(None), row.accepted_at.is_not(None), _is_under_way()
        )
        async with self._sessions() as session:
            found = (await session.execute(statement.order_by(row.accepted_at, row.run_id))).all()
        return [_known_as(*each) for each in found]

    async def _found(self, earlier: _Earlier) -> EarlierResult:
        repository = await self._trees.repository(earlier.run_id, earlier.base, earlier.head)
        return EarlierResult(
            run_id=earlier.root_run_id,
            known_as=earlier.known_as,
            store=repository.path,
            base=earlier.base,
            head=earlier.head,
            branch=earlier.branch if earlier.pushed else None,
            pushed=frozenset(earlier.pushed),
        )

    async def _let_in(self, run_id: UUID, root_run_id: UUID, judged_with: Sequence[_Earlier]) -> bool:
        """Give a result its place, and return False if others were admitted before it in the meantime."""
        row = ForgeReport
        async with self._sessions.begin() as session:
            # One transaction at a time, so that the second of two results that were judged
            # together sees the first.
            await session.execute(text("SELECT pg_advisory_xact_lock(hashtext('forge merge queue'))"))
            seen = {(each.run_id, each.head) for each in judged_with}
            if {(each.run_id, each.head) for each in await _earlier(session, root_run_id)} - seen:
                return False
            mine = update(row).where(row.run_id.in_([run_id, root_run_id]), row.accepted_at.is_(None))
            await session.execute(mine.values(accepted_at=func.clock_timestamp()))
            return True


async def _earlier(session: AsyncSession, root_run_id: UUID) -> list[_Earlier]:
    """Read the accepted results that would be merged before a run's result, in order."""
    row = ForgeReport
    own = (
        await session.execute(
            select(row, Run.source).join(Run, Run.id == row.run_id).where(row.run_id == root_run_id)
        )
    ).one()
    report, source = own
    roots = (
        select(row.run_id)
        .join(Run, Run.id == row.run_id)
        .where(
            row.forge == report.forge,
            row.repository == report.repository,
            row.run_id != root_run_id,
            row.root_run_id.is_(None),
            row.outcome.is_(None),
            _before(report.accepted_at),
            _is_under_way(),
            Run.source["ref"].astext.is_not_distinct_from(source.get("ref")),
        )
        .order_by(row.accepted_at, row.run_id)
    )
    found = [await _newest(session, root) for root in await session.scalars(roots)]
    return [each for each in found if each is not None]


def _before(place: datetime | None) -> ColumnElement[bool]:
    at = ForgeReport.accepted_at
    return at.is_not(None) if place is None else at < place


def _is_under_way() -> ColumnElement[bool]:
    """Return the condition that a first run's result, or that of its round, is or will be offered."""
    rounds = aliased(ForgeReport)
    held = select(rounds.run_id).where(
        rounds.root_run_id == ForgeReport.run_id,
        rounds.accepted_at.is_not(None),
        rounds.wanted > rounds.reported,
    )
    row = ForgeReport
    return or_(row.pull_number.is_not(None), row.wanted > row.reported, held.exists())


def _known_as(run_id: UUID, pull_number: int | None) -> str:
    return f"run {str(run_id)[:8]}" if pull_number is None else f"#{pull_number}"


async def _newest(session: AsyncSession, root_run_id: UUID) -> _Earlier | None:
    """Read a pull request's newest result that was pushed or admitted, or else its first run's result."""
    row = ForgeReport
    counts = or_(row.run_id == root_run_id, was_pushed(), row.accepted_at.is_not(None))
    found = await newest_run(session, is_of_pull(root_run_id), counts, Run.status == "completed")
    if found is None:
        return None
    run, report = found.run, found.report
    return _Earlier(
        root_run_id,
        run.id,
        report.pull_number,
        run.base_commit,
        run.head_commit,
        report.branch,
        report.pushed,
    )
