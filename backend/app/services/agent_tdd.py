"""Gives one task to one or several agents in parallel and chooses one of their results."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from opentelemetry import trace

from app.agents.models.judge import Judge, JudgeChoice
from app.agents.port import AgentLimits, AgentTask
from app.core.errors import InvalidInputError, PhaseRunnerError
from app.core.events.candidates import JudgeStartedData
from app.core.events.types import SprintEventType
from app.runners.evaluators.models.digest import digest
from app.schemas.agent_tdd import (
    AgentMetrics,
    AgentTddCandidate,
    AgentTddDecision,
    AgentTddRunCreate,
    AgentTddRunResult,
    SubagentSpec,
)
from app.services.execute.side_by_side import (
    CandidateOutcome,
    MakeAgent,
    OnEvent,
    Production,
    ReporterFor,
    SideBySide,
    Subagent,
    no_reporter,
    tell_nobody,
)
from app.services.record.attempts import judge_decided

_tracer = trace.get_tracer(__name__)


class NoCandidateError(PhaseRunnerError):
    """No agent finished its work; the message gives the reason of each."""

    status = 502
    code = "no-candidate"
    title = "No agent finished its work"


class CandidateTrees(Protocol):
    """Separate copies of a workspace."""

    def open(self, workspace: Path, count: int) -> AbstractAsyncContextManager[Sequence[Path]]:
        """Return `count` copies of a workspace; they are removed when the block is left."""
        ...

    async def changed_files(self, tree: Path, workspace: Path) -> list[str]:
        """Return the paths that differ between a copy and its workspace."""
        ...

    async def adopt(self, tree: Path, workspace: Path) -> None:
        """Replace the workspace's files with those of the copy."""
        ...


Rank = Callable[[AgentTask, Sequence[CandidateOutcome]], Awaitable[Sequence[float]]]
"""Ranks candidates by the gates: one number in [0, 1] each. Higher is better, and equal numbers are a tie."""

JudgeFor = Callable[[str | None], Judge]
"""Returns the judge that uses a model (`provider:model`), or the service's default judge for None."""


class AgentTddService:
    """Runs agents and chooses one of their results.

    Args:
        agents: makes agents.
        trees: makes a copy of the workspace for each of several candidates.
        rank: ranks candidates by the gates.
        judge_for: returns the judge that breaks ties.
        limits: bounds on each agent's work.
    """

    def __init__(
        self,
        agents: MakeAgent,
        trees: CandidateTrees,
        rank: Rank,
        judge_for: JudgeFor,
        limits: AgentLimits | None = None,
    ) -> None:
        self._agents = agents
        self._trees = trees
        self._rank = rank
        self._judge_for = judge_for
        self._limits = limits or AgentLimits()

    async def execute(
        self,
        request: AgentTddRunCreate,
        user_id: str,
        *,
        report: ReporterFor = no_reporter,
        on_event: OnEvent = tell_nobody,
    ) -> AgentTddRunResult:
        """Let the agents do the task, and leave the chosen candidate's files in the workspace.

        A single agent works in the workspace itself. Several agents work in copies; the gates rank their
        results and a judge breaks ties. An agent that fails appears among the candidates with its error.

        Raises:
            InvalidInputError: `workspace_ref` is not a directory.
            NoCandidateError: no agent finished.
        """
        workspace = Path(request.workspace_ref)
        if not await asyncio.to_thread(workspace.is_dir):
            raise InvalidInputError(f"{workspace} is not a directory", field="workspace_ref")
        task = AgentTask(request.phase, 1, request.message, workspace, self._limits)
        subagents = [Subagent(each.agent_spec(), each.name) for each in request.subagents or [SubagentSpec()]]
        with _tracer.start_as_current_span("agents", attributes={"count": len(subagents), "user": user_id}):
            work = SideBySide(self._agents, report, on_event)
            if len(subagents) == 1:
                production = await work.run(task, subagents, [workspace])
                decision = _the_only(production)
            else:
                judge = self._judge_for(request.judge.model)
                async with self._trees.open(workspace, len(subagents)) as copies:
                    production = await work.run(task, subagents, copies)
                    decision = await self._choose(task, production, judge, on_event)
                    await self._trees.adopt(copies[decision.index], workspace)
        return _result(request, user_id, production, decision)

    async def _choose(
        self, task: AgentTask, production: Production, judge: Judge, on_event: OnEvent
    ) -> JudgeChoice:
        finished = production.succeeded
        if len(finished) < 2:
            return _the_only(production)
        scores = await self._rank(task, finished)
        best = max(scores)
        leaders = [each for each, score in zip(finished, scores, strict=True) if score == best]
        if len(leaders) == 1:
            return JudgeChoice(leaders[0].index, "The gates rank it first.", best)
        contenders = [await self._look_at(each, task.workspace) for each in leaders]
        indexes = [each.index for each in contenders]
        await on_event(SprintEventType.JUDGE_STARTED, JudgeStartedData(candidates=indexes))
        choice = await judge.choose(task.prompt, contenders)
        await on_event(SprintEventType.JUDGE_DECIDED, judge_decided(choice))
        return choice

    async def _look_at(self, candidate: CandidateOutcome, workspace: Path) -> CandidateOutcome:
        changed = await self._trees.changed_files(candidate.workspace, workspace)
        changes = await asyncio.to_thread(digest, candidate.workspace, workspace)
        return replace(candidate, changed_files=tuple(changed), diff=changes.shown().text)


def _the_only(production: Production) -> JudgeChoice:
    if production.chosen is None:
        reasons = [f"{each.agent}: {each.error}" for each in production.candidates]
        raise NoCandidateError("; ".join(dict.fromkeys(reasons)))
    alone = len(production.candidates) == 1
    return JudgeChoice(
        production.chosen, "The only candidate." if alone else "The only candidate that finished."
    )


def _result(
    request: AgentTddRunCreate, user_id: str, production: Production, choice: JudgeChoice
) -> AgentTddRunResult:
    return AgentTddRunResult(
        run_id=uuid4(),
        user_id=user_id,
        candidates=[_view(each) for each in production.candidates],
        decision=AgentTddDecision(
            candidate_id=production.candidates[choice.index].id,
            score=choice.score,
            rationale=choice.rationale,
            model=choice.model,
        ),
        metadata=request.metadata,
    )


def _view(candidate: CandidateOutcome) -> AgentTddCandidate:
    return AgentTddCandidate(
        id=candidate.id,
        agent_name=candidate.agent,
        provider=candidate.provider,
        model=candidate.model,
        output=candidate.output,
        tool_calls=list(candidate.tool_calls),
        metrics=AgentMetrics(**asdict(candidate.outcome.usage), seconds=candidate.seconds),
        error=candidate.error,
    )
