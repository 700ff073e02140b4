"""Checks whether a result still merges into its source, and creates it there as a branch on request."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import anyio

from app.core.errors import ConflictError
from app.db.engine import Sessions
from app.db.models import Run
from app.schemas.workspaces import GitSource, LocalSource
from app.services.execute.trees import RunTrees
from app.services.review.results import Result, ResultService
from app.workspaces.history.git import Git
from app.workspaces.sources.branching import create_branch
from app.workspaces.sources.earlier import EarlierResult
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.local import branch_of, locate
from app.workspaces.sources.merging import (
    Merge,
    MergeOutcome,
    merging_into_local,
    merging_into_remote,
)

MERGES_AT_ONCE = 2
"""The number of merges that one process tries at the same time; others wait."""


@dataclass(frozen=True, slots=True)
class MergeCheck:
    """The outcome of a trial merge, and its time."""

    outcome: MergeOutcome
    checked_at: datetime


@dataclass(frozen=True, slots=True)
class AppliedBranch:
    """A result as a branch of its source. `created` is False if the branch was already there."""

    repository: str
    branch: str
    commit: str
    created: bool


class MergeService:
    """Compares results with the present state of the sources of their runs.

    Args:
        sessions: opens short sessions.
        results: finds the results.
        trees: provides the runs' commits.
        git: the git program.
        sources: which sources are allowed.
    """

    def __init__(
        self, sessions: Sessions, results: ResultService, trees: RunTrees, git: Git, sources: SourcePolicy
    ) -> None:
        self._sessions = sessions
        self._results = results
        self._trees = trees
        self._git = git
        self._sources = sources
        self._limit = anyio.Semaphore(MERGES_AT_ONCE)

    async def check(self, run_id: UUID, branch: str | None) -> MergeCheck:
        """Try to merge a result into a branch of its source, without writing to the source.

        Args:
            run_id: the run.
            branch: name of the branch; by default the branch from which the run started.

        Raises:
            NotFoundError: there is no such run.
            ConflictError: the run has no output yet, or its source is not a repository.
            InvalidInputError, WorkspaceError: the branch or the source cannot be used.
        """
        async with self.merging(run_id, branch) as merge:
            return MergeCheck(merge.outcome, datetime.now(UTC))

    @asynccontextmanager
    async def merging(
        self, run_id: UUID, branch: str | None = None, after: Sequence[EarlierResult] = ()
    ) -> AsyncGenerator[Merge]:
        """Try the same merge as `check`, and yield it with its files, which exist while the block runs.

        With `after`, results of other runs are merged into a remote branch first.

        Raises:
            NotFoundError, ConflictError, InvalidInputError, WorkspaceError: as `check`.
        """
        result = await self._results.result(run_id)
        document = await self._source(run_id)
        repository = await self._trees.repository(run_id, result.commit)
        ends = (result.base_commit, result.commit)
        async with self._limit:
            match document["kind"]:
                case "local":
                    source = LocalSource(path=document["path"])
                    wanted = branch or await self._started_from(source, document)
                    trying = merging_into_local(source, wanted, self._sources, repository, *ends)
                case "git":
                    remote = GitSource(
                        url=document["url"], ref=document.get("ref"), credential=document.get("credential")
                    )
                    trying = merging_into_remote(remote, branch, self._sources, repository, *ends, after)
                case kind:
                    raise ConflictError(f"a source of the kind {kind} has no branch to merge into")
            async with trying as merge:
                moved = merge.outcome.commit != result.source_commit
                yield replace(merge, outcome=replace(merge.outcome, moved=moved))

    async def apply(self, run_id: UUID, branch: str | None) -> AppliedBranch:
        """Create a branch with the result in the local repository from which the run started.

        Args:
            run_id: the run.
            branch: name of the branch; by default the result's name.

        Raises:
            NotFoundError: there is no such run.
            ConflictError: the gates have not passed the result, its source is not a local repository, or the
                branch holds other commits.
            InvalidInputError, WorkspaceError: the branch or the source cannot be used.
        """
        result = await self._results.result(run_id)
        document = await self._source(run_id)
        if document["kind"] != "local":
            raise ConflictError("only a local repository can take the result as a branch")
        _require_final(result)
        found = await locate(LocalSource(path=document["path"]), self._sources.allowed_roots, self._git)
        named = replace(result, branch=branch or result.branch)
        result, bundle = await self._results.bundle_of(run_id, named)
        created = await create_branch(found, result.branch, bundle, self._git)
        return AppliedBranch(str(found.top), result.branch, result.commit, created)

    async def _started_from(self, source: LocalSource, document: Mapping[str, Any]) -> str | None:
        """Return the branch from which the run started; None if it no longer exists."""
        name: str | None = document.get("branch")
        if name is None:
            return None
        found = await locate(source, self._sources.allowed_roots, self._git)
        return await branch_of(found, f"refs/heads/{name}", self._git)

    async def _source(self, run_id: UUID) -> Mapping[str, Any]:
        async with self._sessions() as session:
            return (await session.get_one(Run, run_id)).source


def _require_final(result: Result) -> None:
    if not result.is_final:
        raise ConflictError("the gates have not passed this output; `phaserunner result` fetches it anyway")
