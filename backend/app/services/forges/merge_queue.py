"""Judges results in the order in which they would be merged.

Results of one repository wait for people to merge them. A result is judged on the target's head with the
earlier ones merged in. So of two that pass alone and break each other, the later one is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, func, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.engine import Sessions
from app.db.models import ForgeReport, Run
from app.forges.port import ForgeError
from app.schemas.api.result_checks import ResultCheckView
from app.services.execute.trees import RunTrees
from app.services.review.rechecks import RecheckService
from app.workspaces.sources.merging import EarlierResult

_TRIES = 3


@dataclass(frozen=True, slots=True)
class _Earlier:
    """A result that comes before, as it was read."""

    run_id: UUID
    pull_number: int | None
    base: str
    head: str

    @property
    def name(self) -> str:
        """Return what people know it by."""
        known = f"run {str(self.run_id)[:8]}" if self.pull_number is None else f"#{self.pull_number}"
        return f"{known} at {self.head[:12]}"


class MergeQueue:
    """Lets results in. The order is that of `accepted_at`; a round has the place of its first run.

    Args:
        sessions: opens short transactions; none is open while a result is judged.
        rechecks: judges results on the present head of their target.
        trees: knows the runs' commits.
    """

    def __init__(self, sessions: Sessions, rechecks: RecheckService, trees: RunTrees) -> None:
        self._sessions = sessions
        self._rechecks = rechecks
        self._trees = trees

    async def admit(self, run_id: UUID, root_run_id: UUID) -> ResultCheckView:
        """Judge a result with all that come before it; if it can be merged, it takes its place.

        Raises:
            ForgeError: other results were let in all the time.
            NotFoundError, ConflictError, InvalidInputError, WorkspaceError: it cannot be judged.
        """
        for _ in range(_TRIES):
            async with self._sessions() as session:
                earlier = await _earlier(session, root_run_id)
            check = await self._rechecks.recheck(run_id, after=[await self._found(each) for each in earlier])
            if check.problem or await self._let_in(root_run_id, earlier):
                return check
        raise ForgeError("other results came first while this one was judged; it is judged again")

    async def _found(self, earlier: _Earlier) -> EarlierResult:
        repository = await self._trees.repository(earlier.run_id, earlier.base, earlier.head)
        return EarlierResult(earlier.name, repository.path, earlier.base, earlier.head)

    async def _let_in(self, root_run_id: UUID, judged_with: Sequence[_Earlier]) -> bool:
        """Give a result its place, unless others came before it meanwhile."""
        row = ForgeReport
        async with self._sessions.begin() as session:
            # One after the other, so that of two that were judged at the same time the second sees the first.
            await session.execute(text("SELECT pg_advisory_xact_lock(hashtext('forge merge queue'))"))
            seen = {(each.run_id, each.head) for each in judged_with}
            if {(each.run_id, each.head) for each in await _earlier(session, root_run_id)} - seen:
                return False
            mine = update(row).where(row.run_id == root_run_id, row.accepted_at.is_(None))
            await session.execute(mine.values(accepted_at=func.clock_timestamp()))
            return True


async def _earlier(session: AsyncSession, root_run_id: UUID) -> list[_Earlier]:
    """Read the accepted results that would be merged before one, in order."""
    row = ForgeReport
    own = (
        await session.execute(
            select(row, Run.source).join(Run, Run.id == row.run_id).where(row.run_id == root_run_id)
        )
    ).one()
    report, source = own
    waits = or_(row.pull_number.is_not(None), row.wanted > row.reported)
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
            waits,
            Run.source["ref"].astext.is_not_distinct_from(source.get("ref")),
        )
        .order_by(row.accepted_at, row.run_id)
    )
    found = [await _newest(session, root) for root in await session.scalars(roots)]
    return [each for each in found if each is not None]


def _before(place: datetime | None) -> ColumnElement[bool]:
    at = ForgeReport.accepted_at
    return at.is_not(None) if place is None else at < place


async def _newest(session: AsyncSession, root_run_id: UUID) -> _Earlier | None:
    """Read the newest pushed result of a pull request; before its first push, that of its first run."""
    row = ForgeReport
    statement = (
        select(Run.id, row.pull_number, Run.base_commit, Run.head_commit)
        .join(row, row.run_id == Run.id)
        .where(
            Run.status == "completed",
            or_(
                row.run_id == root_run_id,
                (row.root_run_id == root_run_id) & (func.cardinality(row.pushed) > 0),
            ),
        )
        .order_by(row.created_at.desc())
        .limit(1)
    )
    found = (await session.execute(statement)).one_or_none()
    return None if found is None else _Earlier(*found)
