"""Reports the state of runs to forges: as a branch, a pull request, a commit status and one comment.

A report brings the forge to the state of the run, whatever was done before. So it can be repeated after a
crash at any point, and several events can share one report.
"""

import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select, update

from app.core.errors import ConflictError, InvalidInputError, PhaseRunnerError
from app.db.engine import Sessions
from app.db.models import ForgeReport
from app.forges.descriptions import FileChange, ReportFacts, comment_body, marker_of
from app.forges.port import Forge, ForgeError, ForgesByName
from app.forges.repositories import Member, Members, not_in_file
from app.schemas.runs import RunStatus
from app.services.chores.webhooks import pause_after
from app.services.forges.merge_queue import MergeQueue
from app.services.forges.offers import DueReport, OfferService
from app.services.forges.returns import ReturnService
from app.services.forges.signs import wake
from app.services.read.runs import RunQueries
from app.services.record.leases import Leases
from app.services.review.results import Result, ResultService

logger = logging.getLogger(__name__)

MAX_TRIES = 126
"""About 30 days, as a token that expired is renewed late."""

_LOOK_AGAIN = timedelta(hours=1)
"""How often a result that waits for others is looked at if no delivery reports their end."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a result is not offered; empty if it is.

    Attributes:
        why: the reason.
        next_step: what happens now.
        retry_at: when the result may be offered, if it has to wait.
    """

    why: str = ""
    next_step: str = ""
    retry_at: datetime | None = None


class ForgeReportService:
    """Makes the reports that are due; any number of workers can do so. A run never waits for them.

    Args:
        sessions: opens short transactions; none is open during a request to a forge.
        members: the repositories that take part.
        forges: adapters by name.
        queries: reads runs.
        results: finds results.
        queue: judges results in the order in which they would be merged.
        offers: offers results.
        returns: returns results that cannot be merged to their agents.
    """

    def __init__(  # noqa: PLR0913 - what a report is made of
        self,
        sessions: Sessions,
        members: Members,
        forges: ForgesByName,
        queries: RunQueries,
        results: ResultService,
        queue: MergeQueue,
        offers: OfferService,
        returns: ReturnService,
    ) -> None:
        self._sessions = sessions
        self._members = members
        self._forges = forges
        self._queries = queries
        self._results = results
        self._queue = queue
        self._offers = offers
        self._returns = returns
        self._leases = Leases(
            sessions=sessions,
            table=ForgeReport,
            due_at="next_at",
            make=DueReport,
            waits=(ForgeReport.wanted > ForgeReport.reported, ForgeReport.tries < MAX_TRIES),
        )

    async def __call__(self) -> int:
        """Make the reports that are due, and return how many were tried."""
        return await self._leases.work(self._attempt, self._fail)

    async def _attempt(self, due: DueReport) -> None:
        member = self._members.named(due.forge, due.repository)
        if member is None:
            await self._postpone(due, not_in_file(due.repository), None, final=False)
            return
        if due.repository != member.repository.name:
            due = await self._renamed(due, member.repository.name)
        try:
            problem = await self._report(due, member, self._forges[due.forge])
        except ForgeError as error:
            await self._postpone(due, str(error), error.retry_at, final=error.permanent)
        except PhaseRunnerError as error:
            await self._postpone(due, error.detail, None, final=isinstance(error, InvalidInputError))
        else:
            await self._finish(due, member, problem)

    async def _renamed(self, due: DueReport, name: str) -> DueReport:
        """Give all runs of a renamed repository its new name, so that they stand in one queue."""
        old = (ForgeReport.forge == due.forge, ForgeReport.repository == due.repository)
        async with self._sessions.begin() as session:
            await session.execute(update(ForgeReport).where(*old).values(repository=name))
        return replace(due, repository=name)

    async def _report(self, due: DueReport, member: Member, forge: Forge) -> str:
        """Bring the forge to the state of the run; return why the result could not be offered, or ""."""
        facts = await self._facts(due)
        pull_url, refusal = due.pull_url, _Refusal()
        result = None if await self._has_rounds(due) else await self._offered(facts, member)
        is_new = due.accepted_at is None if due.root_run_id is None else not due.pushed
        if result is not None and is_new and result.is_final:
            # Only before the first offer: afterwards the forge itself shows what has moved.
            refusal = await self._admit(due, member)
        if result is not None and not refusal.why:
            try:
                pull_url = await self._offer(due, member, forge, facts, result)
            except ConflictError as error:
                # The branch holds a person's commits or is protected; another try would change nothing.
                refusal = _Refusal(error.detail)
        if due.issue is not None:
            told = replace(facts, problem=refusal.why, next_step=refusal.next_step)
            marker = marker_of(due.comment_run_id)
            body = comment_body(told, pull_url, marker)
            comment = await forge.put_comment(due.repository, due.issue, marker, body, due.comment_id)
            await self._offers.note(due, {"comment_id": comment})
        if refusal.retry_at is not None:
            raise ForgeError(refusal.why, retry_at=refusal.retry_at)
        if facts.run.status in (RunStatus.FAILED, RunStatus.CANCELLED) and due.root_run_id is not None:
            await self._returns.note_end(due.run_id, due.root_run_id, facts.run.status)
        return refusal.why

    async def _admit(self, due: DueReport, member: Member) -> "_Refusal":
        """Judge a result as it would be merged; a result that cannot be merged returns to its agent."""
        check = await self._queue.admit(due.run_id, due.comment_run_id)
        if check.verdict == "errored":
            raise ForgeError(check.problem)  # the error says nothing about the result, so it is judged again
        if not check.problem:
            waits = await self._queue.waits_for(due.after)
            if not waits:
                return _Refusal()
            why = f"it builds on {' and '.join(waits)}; it is offered when that is merged or closed"
            return _Refusal(why, retry_at=datetime.now(UTC) + _LOOK_AGAIN)
        if due.parents:
            return _Refusal(check.problem)  # the review of the pull request returns it
        given = await self._returns.give_back(due.run_id, due.comment_run_id, member, check)
        return _Refusal(check.problem, given)

    async def _facts(self, due: DueReport) -> ReportFacts:
        run = await self._queries.get(due.run_id)
        page = self._members.file.page
        link = f"{page.rstrip('/')}/sprints/{run.id}" if page else None
        return ReportFacts(run=run, issue=due.issue, link=link)

    async def _offered(self, facts: ReportFacts, member: Member) -> Result | None:
        """Return the result if the operator wants it to be offered."""
        when, status = member.repository.pull_request, facts.run.status
        offered = status is RunStatus.COMPLETED or (when == "always" and status is RunStatus.WAITING)
        if when == "never" or not offered:
            return None
        try:
            result = await self._results.result(facts.run.id)
        except ConflictError:
            return None  # the run has no output yet
        return None if result.commit == result.base_commit else result

    async def _offer(
        self, due: DueReport, member: Member, forge: Forge, facts: ReportFacts, result: Result
    ) -> str | None:
        found = await self._results.files(due.run_id)
        if not found.files:
            return None
        files = [FileChange(each.path, each.additions, each.deletions) for each in found.files]
        return await self._offers.offer(due, member, forge, replace(facts, files=files), result)

    async def _has_rounds(self, due: DueReport) -> bool:
        """Return whether rounds have continued this run's pull request, so that its branch is theirs."""
        async with self._sessions() as session:
            statement = select(ForgeReport.run_id).where(ForgeReport.root_run_id == due.run_id).limit(1)
            return await session.scalar(statement) is not None

    async def _finish(self, due: DueReport, member: Member, problem: str) -> None:
        """Record that the report is made, and make the review of its pull request due.

        The first offer starts the review. If it were recorded without it, nothing would start it later.
        """
        rules = member.repository.review
        values: dict[str, Any] = {"reported": due.wanted, "tries": 0, "last_error": problem}
        async with self._sessions.begin() as session:
            still = ForgeReport.wanted == due.wanted
            await self._leases.record_in(session, due.run_id, due.tries, values, still)
            report = await session.get_one(ForgeReport, due.run_id)
            is_open = report.pull_number is not None and report.outcome is None
            if rules is not None and is_open:
                await wake(session, due.comment_run_id, rules)

    async def _fail(self, due: DueReport, why: str) -> None:
        await self._postpone(due, why, None, final=False)

    async def _postpone(self, due: DueReport, why: str, retry_at: datetime | None, *, final: bool) -> None:
        if final or due.tries >= MAX_TRIES:
            await self._give_up(due, why)
            return
        at = retry_at or datetime.now(UTC) + timedelta(seconds=pause_after(due.tries))
        logger.warning("the report on run %s failed, retrying at %s: %s", due.run_id, at, why)
        # Waiting for a limit to end does not count as a failure.
        tries = {"tries": due.tries - 1} if retry_at else {}
        await self._record(due, {"next_at": at, "last_error": why, **tries})

    async def _give_up(self, due: DueReport, why: str) -> None:
        logger.error("the report on run %s failed for good: %s", due.run_id, why)
        await self._record(due, {"reported": due.wanted, "tries": 0, "last_error": why})

    async def _record(self, due: DueReport, values: dict[str, Any]) -> None:
        # If something happened meanwhile, `wanted` is larger and `tries` is 0, so that the report stays due.
        await self._leases.record(due.run_id, due.tries, values, ForgeReport.wanted == due.wanted)
