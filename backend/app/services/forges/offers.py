"""Offers results on forges: as a branch, a pull request and a commit status."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import update

from app.core.errors import ConflictError
from app.db.engine import Sessions
from app.db.models import ForgeReport
from app.forges.descriptions import ReportFacts, pull_request_body, title_of
from app.forges.operator_file import RepositoryEntry
from app.forges.port import Forge, NewPullRequest, PullRequest
from app.forges.repositories import Member
from app.schemas.workspaces import GitSource
from app.services.execute.trees import RunTrees
from app.services.forges.outcomes import note_outcome
from app.services.forges.statuses import status_of
from app.services.review.merging import MergeService
from app.services.review.results import Result
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.pushing import Push, lay_onto, push_branch

_SHA_LENGTHS = (40, 64)


@dataclass(frozen=True, slots=True)
class DueReport:
    """A report that was taken."""

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
    after: list[UUID]
    pull_url: str | None

    @property
    def comment_run_id(self) -> UUID:
        """Return the run whose comment covers this one."""
        return self.root_run_id or self.run_id


@dataclass(frozen=True, slots=True)
class _Commit:
    """A commit to push, and the repository that contains it."""

    repository: RunRepository
    id: str
    parents: tuple[str, ...]


class OfferService:
    """Updates branch, pull request and status to the state of a result.

    Args:
        sessions: opens short transactions.
        trees: provides the runs' commits.
        merges: merges results into their targets.
        sources: which sources and credentials are allowed.
    """

    def __init__(
        self, sessions: Sessions, trees: RunTrees, merges: MergeService, sources: SourcePolicy
    ) -> None:
        self._sessions = sessions
        self._trees = trees
        self._merges = merges
        self._sources = sources

    async def offer(
        self, due: DueReport, member: Member, forge: Forge, facts: ReportFacts, result: Result
    ) -> str:
        """Offer a result, and return the address of its pull request.

        Raises:
            ForgeError: the forge is unavailable or refuses the result.
            ConflictError: the branch holds other people's commits, or is protected.
            InvalidInputError, WorkspaceError: the source cannot be used.
        """
        branch = due.branch or member.branch_for(str(due.comment_run_id)[:8], due.issue)
        async with self._commit(due, result) as commit:
            pushed = await self._push(due, member, branch, commit)
        pull = await self._pull(due, member.repository, forge, facts, branch, draft=not result.is_final)
        await self._note_pull(due, pull)
        if pull.state == "closed":
            # The delivery that reported this came before the number of the pull request was known.
            async with self._sessions.begin() as session:
                await note_outcome(session, due.comment_run_id, pull)
        await forge.set_status(due.repository, pushed, status_of(facts, final=result.is_final))
        return pull.url

    @asynccontextmanager
    async def _commit(self, due: DueReport, result: Result) -> AsyncGenerator[_Commit]:
        """Make the commit to push for a result."""
        message = f"Answer feedback\n\nRun {due.run_id}"
        if due.after or result.held_back:
            # The base holds earlier results, or lacks a part of its tests. No branch has it in this form,
            # so the changes are laid onto the target.
            async with self._merges.merging(due.run_id) as merge:
                parents = (*due.parents[:1], merge.outcome.commit)
                scratch = merge.repository
                merged = await scratch.git.run(
                    ["commit-tree", merge.tree, "-p", result.commit, "-m", "Merged"], scratch.target
                )
                made = await lay_onto(scratch, merged.decode().strip(), parents, message)
                yield _Commit(scratch, made, parents if due.parents else ())
            return
        repository = await self._trees.repository(due.run_id, result.commit)
        made = (
            await lay_onto(repository, result.commit, due.parents, message) if due.parents else result.commit
        )
        yield _Commit(repository, made, tuple(due.parents))

    async def _push(self, due: DueReport, member: Member, branch: str, commit: _Commit) -> str:
        """Push a commit, and return the branch's new head."""
        ours = due.pushed if commit.id in due.pushed else [*due.pushed, commit.id]
        # Stored before the push, so that after a crash in between the commit is known to be this run's.
        await self.note(due, {"branch": branch, "pushed": ours})
        source = GitSource(url=member.clone_url, credential=member.forge.credential)
        known = frozenset([*ours, *await self._draft(due)])
        push = Push(source, branch, commit.id, replaces=known, parents=commit.parents)
        try:
            return await push_branch(push, commit.repository, self._sources)
        except ConflictError:
            await self.note(due, {"pushed": due.pushed})  # the commit was not delivered
            raise

    async def _draft(self, due: DueReport) -> list[str]:
        """Return the commits of the first run's draft, which a round without parents replaces."""
        if due.parents or due.root_run_id is None:
            return []
        async with self._sessions() as session:
            return (await session.get_one(ForgeReport, due.root_run_id)).pushed

    async def _pull(
        self,
        due: DueReport,
        repository: RepositoryEntry,
        forge: Forge,
        facts: ReportFacts,
        branch: str,
        *,
        draft: bool,
    ) -> PullRequest:
        ref = facts.run.source.get("ref")
        base = ref if ref and len(ref) not in _SHA_LENGTHS else await forge.default_branch(due.repository)
        new = NewPullRequest(
            title=title_of(facts, repository.title),
            body=pull_request_body(facts, template=repository.description),
            head=branch,
            base=base,
            draft=draft,
        )
        pull = await forge.open_pull(due.repository, new)
        body = pull_request_body(facts, pull.body, repository.description)
        if body != pull.body:
            await forge.update_pull(due.repository, pull.number, body)
        if pull.draft and not draft and pull.state == "open":
            await forge.mark_ready(pull)
        return pull

    async def _note_pull(self, due: DueReport, pull: PullRequest) -> None:
        """Store the pull request's number and URL; those of a round also belong to the first run."""
        row = ForgeReport
        values = {"pull_number": pull.number, "pull_url": pull.url}
        of_pull = row.run_id.in_([due.run_id, due.comment_run_id])
        async with self._sessions.begin() as session:
            await session.execute(update(row).where(of_pull).values(values))

    async def note(self, due: DueReport, values: dict[str, Any]) -> None:
        """Store values in the row of a report."""
        async with self._sessions.begin() as session:
            await session.execute(update(ForgeReport).where(ForgeReport.run_id == due.run_id).values(values))
