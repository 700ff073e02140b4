"""Tells forges how runs stand: branch, pull request, commit status, and one comment.

A report brings the forge to the state of the run, whatever was done before. So it may be repeated after
a crash at any point, and several events become one report.
"""

import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select, update

from app.core.errors import ConflictError, InvalidInputError, PhaseRunnerError
from app.db.engine import Sessions
from app.db.models import ForgeReport
from app.forges.descriptions import (
    FileChange,
    ReportFacts,
    comment_body,
    marker_of,
    pull_request_body,
    title_of,
)
from app.forges.port import Forge, ForgeError, ForgesByName, NewPullRequest, PullRequest
from app.forges.repositories import Member, Members
from app.schemas.runs import RunStatus
from app.schemas.workspaces import GitSource
from app.services.chores.webhooks import pause_after
from app.services.execute.trees import RunTrees
from app.services.forges.leases import Leases
from app.services.forges.merge_queue import MergeQueue
from app.services.forges.outcomes import note_outcome
from app.services.forges.signs import wake
from app.services.forges.statuses import status_of
from app.services.read.runs import RunQueries
from app.services.review.results import Result, ResultService
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.pushing import Push, lay_onto, push_branch

logger = logging.getLogger(__name__)

MAX_TRIES = 12
_SHA_LENGTHS = (40, 64)


@dataclass(frozen=True, slots=True)
class _Due:
    """A report as it was taken."""

    run_id: UUID
    forge: str
    repository: str
    issue: int | None
    wanted: int
    tries: int
    branch: str | None
    pushed: list[str]
    comment_id: int | None
    root_run_id: UUID | None
    parents: list[str]
    accepted_at: datetime | None
    pull_url: str | None

    @property
    def comment_run_id(self) -> UUID:
        """Return the run whose comment tells of this one."""
        return self.root_run_id or self.run_id


class ForgeReportService:
    """Makes the reports that are due. Any number of workers do so; a run never waits for any of them.

    Args:
        sessions: opens short transactions; none is open while a forge is waited for.
        members: repositories that take part.
        forges: adapters by name.
        queries: reads runs.
        results: finds results.
        queue: judges them in the order in which they would be merged.
        trees: knows the runs' commits.
        sources: which sources and credentials are allowed.
    """

    def __init__(  # noqa: PLR0913 - what a report is made of
        self,
        sessions: Sessions,
        members: Members,
        forges: ForgesByName,
        queries: RunQueries,
        results: ResultService,
        queue: MergeQueue,
        trees: RunTrees,
        sources: SourcePolicy,
    ) -> None:
        self._sessions = sessions
        self._members = members
        self._forges = forges
        self._queries = queries
        self._results = results
        self._queue = queue
        self._trees = trees
        self._sources = sources
        self._leases = Leases(
            sessions=sessions,
            table=ForgeReport,
            due_at="next_at",
            make=_Due,
            waits=(ForgeReport.wanted > ForgeReport.reported, ForgeReport.tries < MAX_TRIES),
        )

    async def __call__(self) -> int:
        """Make the reports that are due; returns how many were tried."""
        return await self._leases.work(self._attempt)

    async def _attempt(self, due: _Due) -> None:
        member = self._members.named(due.forge, due.repository)
        if member is None:
            await self._give_up(due, "the repository is not in FORGES_FILE any more")
            return
        try:
            problem = await self._report(due, member, self._forges[due.forge])
        except ForgeError as error:
            await self._postpone(due, str(error), error.retry_at, final=error.permanent)
        except PhaseRunnerError as error:
            await self._postpone(due, error.detail, None, final=isinstance(error, InvalidInputError))
        else:
            await self._record(due, {"reported": due.wanted, "tries": 0, "last_error": problem})
            await self._wake_review(due, member)

    async def _report(self, due: _Due, member: Member, forge: Forge) -> str:
        """Bring the forge to the state of the run; give why the result could not be offered, or nothing."""
        facts = await self._facts(due, member)
        pull_url, problem = due.pull_url, ""
        result = None if await self._has_rounds(due) else await self._offered(facts, member)
        is_new = due.accepted_at is None if due.root_run_id is None else not due.pushed
        if result is not None and is_new and result.is_final:
            # Before the first offer only: afterwards the forge itself says what has moved.
            check = await self._queue.admit(due.run_id, due.comment_run_id)
            if check.verdict == "errored":
                raise ForgeError(check.problem)  # it says nothing about the result, so it is tried again
            problem = check.problem
        if result is not None and not problem:
            try:
                pull_url = await self._offer(due, member, forge, facts, result)
            except ConflictError as error:
                # A person's commits are on the branch, or it is protected: trying again changes nothing.
                problem = error.detail
        if due.issue is not None:
            told = ReportFacts(run=facts.run, issue=due.issue, link=facts.link, problem=problem)
            marker = marker_of(due.comment_run_id)
            body = comment_body(told, pull_url, marker)
            comment = await forge.put_comment(due.repository, due.issue, marker, body, due.comment_id)
            await self._note(due, {"comment_id": comment})
        return problem

    async def _facts(self, due: _Due, member: Member) -> ReportFacts:
        run = await self._queries.get(due.run_id)
        page = self._members.file.page
        link = f"{page.rstrip('/')}/sprints/{run.id}" if page else None
        return ReportFacts(run=run, issue=due.issue, link=link)

    async def _offered(self, facts: ReportFacts, member: Member) -> Result | None:
        """Find the result, if it is one that the operator wants to be offered."""
        when, status = member.repository.pull_request, facts.run.status
        offered = status is RunStatus.COMPLETED or (when == "always" and status is RunStatus.WAITING)
        if when == "never" or not offered:
            return None
        try:
            result = await self._results.result(facts.run.id)
        except ConflictError:
            return None  # there is no output yet
        return None if result.commit == result.base_commit else result

    async def _offer(
        self, due: _Due, member: Member, forge: Forge, facts: ReportFacts, result: Result
    ) -> str | None:
        found = await self._results.files(due.run_id)
        if not found.files:
            return None
        files = [FileChange(each.path, each.additions, each.deletions) for each in found.files]
        facts = ReportFacts(run=facts.run, files=files, issue=facts.issue, link=facts.link)
        branch = due.branch or member.branch_for(str(due.run_id)[:8], due.issue)
        commit = await self._push(due, member, branch, result)
        pull = await self._pull(due, forge, facts, branch, draft=not result.is_final)
        await self._note(due, {"pull_number": pull.number, "pull_url": pull.url})
        if pull.state == "closed":
            # The delivery that told of it came before the number of the pull request was known.
            async with self._sessions.begin() as session:
                await note_outcome(session, due.comment_run_id, pull)
        await forge.set_status(due.repository, commit, status_of(facts, final=result.is_final))
        return pull.url

    async def _push(self, due: _Due, member: Member, branch: str, result: Result) -> str:
        """Push a result; give the commit that the branch has then."""
        repository = await self._trees.repository(due.run_id, result.commit)
        commit = result.commit
        if due.parents:
            commit = await lay_onto(repository, commit, due.parents, f"Answer feedback\n\nRun {due.run_id}")
        ours = due.pushed if commit in due.pushed else [*due.pushed, commit]
        # Noted before the push: after a crash in between, the commit is known as this run's own.
        await self._note(due, {"branch": branch, "pushed": ours})
        source = GitSource(url=member.clone_url, credential=member.forge.credential)
        push = Push(source, branch, commit, replaces=frozenset(ours), parents=tuple(due.parents))
        try:
            await push_branch(push, repository, self._sources)
        except ConflictError:
            await self._note(due, {"pushed": due.pushed})  # it was not delivered
            raise
        return commit

    async def _has_rounds(self, due: _Due) -> bool:
        """Tell whether rounds have gone on with this run's pull request: then its branch is theirs."""
        async with self._sessions() as session:
            statement = select(ForgeReport.run_id).where(ForgeReport.root_run_id == due.run_id).limit(1)
            return await session.scalar(statement) is not None

    async def _wake_review(self, due: _Due, member: Member) -> None:
        """Let the review of the pull request be looked at; the first offer begins it."""
        rules = member.repository.review
        async with self._sessions.begin() as session:
            report = await session.get_one(ForgeReport, due.run_id)
            is_open = report.pull_number is not None and report.outcome is None
            if rules is not None and is_open:
                await wake(session, due.comment_run_id, rules)

    async def _pull(
        self, due: _Due, forge: Forge, facts: ReportFacts, branch: str, *, draft: bool
    ) -> PullRequest:
        ref = facts.run.source.get("ref")
        base = ref if ref and len(ref) not in _SHA_LENGTHS else await forge.default_branch(due.repository)
        new = NewPullRequest(
            title=title_of(facts), body=pull_request_body(facts), head=branch, base=base, draft=draft
        )
        pull = await forge.open_pull(due.repository, new)
        body = pull_request_body(facts, pull.body)
        if body != pull.body:
            await forge.update_pull(due.repository, pull.number, body)
        if pull.draft and not draft and pull.state == "open":
            await forge.mark_ready(pull)
        return pull

    async def _postpone(self, due: _Due, why: str, retry_at: datetime | None, *, final: bool) -> None:
        if final or due.tries >= MAX_TRIES:
            await self._give_up(due, why)
            return
        at = retry_at or datetime.now(UTC) + timedelta(seconds=pause_after(due.tries))
        logger.warning("report on run %s failed, next try at %s: %s", due.run_id, at, why)
        # Waiting for a limit to end is no failure.
        tries = {"tries": due.tries - 1} if retry_at else {}
        await self._record(due, {"next_at": at, "last_error": why, **tries})

    async def _give_up(self, due: _Due, why: str) -> None:
        logger.error("report on run %s failed for good: %s", due.run_id, why)
        await self._record(due, {"reported": due.wanted, "tries": 0, "last_error": why})

    async def _record(self, due: _Due, values: dict[str, Any]) -> None:
        # If something happened meanwhile, `wanted` is larger and `tries` is 0: then the report stays due.
        await self._leases.record(due.run_id, due.tries, values, ForgeReport.wanted == due.wanted)

    async def _note(self, due: _Due, values: dict[str, Any]) -> None:
        async with self._sessions.begin() as session:
            await session.execute(update(ForgeReport).where(ForgeReport.run_id == due.run_id).values(values))
