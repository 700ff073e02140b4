"""Runs the candidates of one attempt, each in a separate tree, and commits their work."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol
from uuid import UUID

from app.agents.port import (
    AgentFailure,
    AgentOutcome,
    AgentResult,
    AgentTask,
    FailureKind,
    ReportProgress,
    SessionPlace,
)
from app.core.errors import WorkspaceError
from app.core.events.envelope import EventData
from app.core.events.types import SprintEventType
from app.runners.evaluators.feedback_memory import ENDED_EARLY
from app.schemas.agents import AgentSpec
from app.services.execute.side_by_side import CandidateOutcome, MakeAgent, SideBySide, Subagent
from app.workspaces.environments.interpreters import Interpreters
from app.workspaces.environments.outcome import Ready

logger = logging.getLogger(__name__)

_KEPT = (FailureKind.LIMIT, FailureKind.UNAVAILABLE, FailureKind.PROTOCOL, FailureKind.BUDGET)
"""Failures that leave the work done so far as useful as before."""

SAFE_FIXES_MESSAGE = "Safe fixes by ruff"


@dataclass(frozen=True, slots=True)
class Committed:
    """What an agent left: a commit on top of the run's base, and the bundle that carries it.

    `dropped` lists what was left out and why, in words for people. `fixed` lists the files that were then
    fixed automatically; `commit` then holds only these fixes, on top of the agent's commit.
    """

    commit: str
    tree: str
    changed_files: list[str]
    dropped: list[str]
    bundle: bytes
    fixed: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class ProducedCandidate:
    """The result of one agent.

    Attributes:
        ended: the agent's outcome, with its tree.
        committed: the commit to judge; None when the agent failed.
        unfinished: what the agent had changed when it failed; the next try starts from it.
    """

    ended: CandidateOutcome
    committed: Committed | None = None
    unfinished: Committed | None = None

    @property
    def outcome(self) -> AgentOutcome:
        """Return the agent's result or failure."""
        return self.ended.outcome


class AttemptTrees(Protocol):
    """Working trees for agents."""

    def open(
        self, run_id: UUID, commit: str, count: int, claim: UUID | None = None
    ) -> AbstractAsyncContextManager[Sequence[Path]]:
        """Return `count` fresh trees of a commit, found by `claim`; the end of the block removes them."""
        ...

    def sessions(self, run_id: UUID) -> Path:
        """Return the directory for the conversations of the run's agents, without creating it."""
        ...

    async def commit(self, run_id: UUID, tree: Path, base: str, parent: str, message: str) -> Committed:
        """Commit the content of a tree on top of `parent`; the bundle starts from `base`.

        Raises:
            WorkspaceError: the tree has too many files or is too large.
        """
        ...


class Fixer(Protocol):
    """Applies automatic fixes."""

    async def apply(self, tree: Path, base: Path, changed: Sequence[str]) -> list[str]:
        """Fix the changed files of a tree under the rules of `base`, and return the files that were fixed."""
        ...


class CandidateWatch(Protocol):
    """Receives the progress and events of candidates."""

    def reporter(self, candidate: int) -> ReportProgress:
        """Return the function that receives one candidate's progress."""
        ...

    def tell(self, event: SprintEventType, data: EventData) -> Awaitable[None]:
        """Receive an event of a candidate."""
        ...


@dataclass(frozen=True, slots=True)
class CandidateJob:
    """What the candidates of one attempt start from.

    Attributes:
        run_id: the run.
        spec: the agents to run.
        base_commit: the run's base.
        start_commit: the commit from which the candidates start.
        message: the message of their commits.
        task_in: makes the task for a working tree.
        safe_fixes: whether files are fixed automatically before they are judged.
        conversation: the subject of the agents' conversations; None stores none. Agents resume an interrupted
            conversation on the subject.
        continues: whether agents also resume a conversation that has ended.
        interrupted: whether the attempt was interrupted.
        claim: the claim by which watchers find the trees.
    """

    run_id: UUID
    spec: AgentSpec
    base_commit: str
    start_commit: str
    message: str
    task_in: Callable[[Path], AgentTask]
    safe_fixes: bool = False
    conversation: str | None = None
    continues: bool = False
    interrupted: bool = False
    claim: UUID | None = None


class CandidateRuns:
    """Runs candidates.

    Args:
        agents: makes the agents that a run asks for.
        trees: provides the trees in which agents work.
        interpreters: chooses the interpreter for the agents' test runs by what the base declares; None leaves
            the choice to the agents.
        fixer: fixes what agents leave, if the run asks for it.
    """

    def __init__(
        self,
        agents: MakeAgent,
        trees: AttemptTrees,
        interpreters: Interpreters | None = None,
        fixer: Fixer | None = None,
    ) -> None:
        self._agents = agents
        self._trees = trees
        self._interpreters = interpreters
        self._fixer = fixer

    async def run(self, job: CandidateJob, watch: CandidateWatch) -> list[ProducedCandidate]:
        """Run every candidate to its end and commit its work; an agent's failure is among the results.

        Raises:
            WorkspaceError, OSError: the trees cannot be laid out.
        """
        work = SideBySide(self._agents, watch.reporter, watch.tell)
        subagents = [Subagent(each) for each in job.spec.each()]
        async with self._trees.open(job.run_id, job.start_commit, len(subagents), job.claim) as trees:
            async with self._interpreter(job) as python:
                task = replace(job.task_in(trees[0]), python=python, session=self._session(job))
                production = await work.run(task, subagents, trees)
            return [await self._commit(job, each) for each in production.candidates]

    def _session(self, job: CandidateJob) -> SessionPlace | None:
        if job.conversation is None:
            return None
        return SessionPlace(
            self._trees.sessions(job.run_id),
            job.conversation,
            start=job.start_commit,
            continues=job.continues,
            interrupted=job.interrupted,
        )

    @asynccontextmanager
    async def _interpreter(self, job: CandidateJob) -> AsyncGenerator[Path | None]:
        """Yield the interpreter that will judge the agents' work, or None; agents work without it, too."""
        if self._interpreters is None:
            yield None
            return
        async with AsyncExitStack() as stack:
            base = await stack.enter_async_context(self._trees.open(job.run_id, job.base_commit, 1))
            found = await stack.enter_async_context(self._interpreters.lent(base[0]))
            yield found.python if isinstance(found, Ready) and found.key else None

    async def _commit(self, job: CandidateJob, ended: CandidateOutcome) -> ProducedCandidate:
        if isinstance(ended.outcome, AgentFailure):
            return await self._keep(job, ended, ended.outcome)
        try:
            committed = await self._commit_tree(job, ended)
        except (WorkspaceError, OSError) as error:
            text = f"The agent's work cannot be committed: {error}"
            used, session = ended.outcome.usage, ended.outcome.session
            failure = AgentFailure(FailureKind.LIMIT, text, used, ended.model, session=session)
            return ProducedCandidate(replace(ended, outcome=failure))
        if job.safe_fixes and self._fixer is not None and committed.changed_files:
            committed = await self._fix(job, ended.workspace, committed, self._fixer)
        return ProducedCandidate(ended, committed)

    async def _commit_tree(self, job: CandidateJob, ended: CandidateOutcome) -> Committed:
        # The number tells equal work of two candidates apart, because equal commits would share an id.
        message = job.message if ended.index == 0 else f"{job.message}, candidate {ended.index + 1}"
        return await self._trees.commit(
            job.run_id, ended.workspace, job.base_commit, job.start_commit, message
        )

    async def _keep(
        self, job: CandidateJob, ended: CandidateOutcome, failure: AgentFailure
    ) -> ProducedCandidate:
        """Keep what an agent changed before it failed; work that a limit ended is judged as if finished."""
        if failure.kind not in _KEPT:
            return ProducedCandidate(ended)
        try:
            committed = await self._commit_tree(job, ended)
        except (WorkspaceError, OSError) as error:
            logger.warning("cannot keep unfinished work: %s", error)
            return ProducedCandidate(ended)
        if not committed.changed_files:
            return ProducedCandidate(ended)
        if failure.kind is not FailureKind.LIMIT:
            return ProducedCandidate(ended, unfinished=committed)
        output = f"{ENDED_EARLY} {failure.message}"
        result = AgentResult(output, failure.usage, failure.model, session=failure.session)
        return ProducedCandidate(replace(ended, outcome=result), committed)

    async def _fix(self, job: CandidateJob, tree: Path, committed: Committed, fixer: Fixer) -> Committed:
        """Commit automatic fixes on top of the agent's commit, or return the agent's commit if they fail."""
        try:
            async with self._trees.open(job.run_id, job.base_commit, 1) as (base,):
                fixed = await fixer.apply(tree, base, committed.changed_files)
            if not fixed:
                return committed
            fixes = await self._trees.commit(
                job.run_id, tree, job.base_commit, committed.commit, SAFE_FIXES_MESSAGE
            )
        except (WorkspaceError, OSError) as error:
            logger.warning("skipped safe fixes: %s", error)
            return committed
        changed = sorted({*committed.changed_files, *fixes.changed_files})
        dropped = [*committed.dropped, *fixes.dropped]
        return replace(fixes, changed_files=changed, dropped=dropped, fixed=fixed)
