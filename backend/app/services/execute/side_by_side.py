"""Lets several agents work on one task at the same time, each in a separate workspace."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol
from uuid import UUID, uuid4

from app.agents.gateway_port import current_labels, labelled
from app.agents.port import (
    Agent,
    AgentFailure,
    AgentOutcome,
    AgentProgress,
    AgentResult,
    AgentTask,
    FailureKind,
    ProgressKind,
    ReportProgress,
)
from app.core.events.candidates import CandidateData
from app.core.events.envelope import EventData
from app.core.events.types import SprintEventType
from app.schemas.agent_tdd import AgentToolCall
from app.schemas.agents import AgentSpec

logger = logging.getLogger(__name__)

MAX_TOOL_CALLS = 1_000


class MakeAgent(Protocol):
    """Makes agents."""

    def __call__(self, spec: AgentSpec) -> Agent | AgentFailure:
        """Return the agent, or a failure that says what is missing."""
        ...


@dataclass(frozen=True, slots=True)
class Subagent:
    """An agent to run; without a name, the agent's own name is used."""

    spec: AgentSpec
    name: str | None = None


@dataclass(frozen=True, slots=True)
class CandidateOutcome:
    """The result of one agent.

    Attributes:
        index: the candidate's number, from 0.
        workspace: the tree in which the agent worked.
        changed_files: the files that the agent changed; empty until they are compared.
        diff: the changes as text.
        seconds: wall-clock time.
    """

    id: UUID
    index: int
    agent: str
    provider: str
    model: str | None
    workspace: Path
    outcome: AgentOutcome
    tool_calls: tuple[AgentToolCall, ...] = ()
    changed_files: tuple[str, ...] = ()
    diff: str = ""
    seconds: float = 0.0

    @property
    def output(self) -> str:
        """Return the agent's final message; empty if it failed."""
        return self.outcome.output if isinstance(self.outcome, AgentResult) else ""

    @property
    def error(self) -> str | None:
        """Return why the agent failed; None if it did not."""
        return self.outcome.message if isinstance(self.outcome, AgentFailure) else None


@dataclass(frozen=True, slots=True)
class Production:
    """The results of all agents on a task. `chosen` is set once there is nothing left to choose between."""

    candidates: tuple[CandidateOutcome, ...]
    chosen: int | None = None

    @property
    def succeeded(self) -> tuple[CandidateOutcome, ...]:
        """Return the candidates that finished."""
        return tuple(each for each in self.candidates if each.error is None)


ReporterFor = Callable[[int], ReportProgress]
"""Returns the function that receives the progress of one candidate."""

OnEvent = Callable[[SprintEventType, EventData], Awaitable[None]]
"""Receives the events `candidate.started|generated|failed` and `judge.started|decided`."""


async def tell_nobody(event: SprintEventType, data: EventData) -> None:
    """Ignore the event."""


def no_reporter(index: int) -> ReportProgress:
    """Ignore all progress."""
    return lambda progress: None


class SideBySide:
    """Runs agents side by side; failures are among the outcomes and are never raised.

    Args:
        agents: makes agents.
        report: returns the function that receives one candidate's progress.
        on_event: receives the start and end of each candidate.
    """

    def __init__(
        self, agents: MakeAgent, report: ReporterFor = no_reporter, on_event: OnEvent = tell_nobody
    ) -> None:
        self._agents = agents
        self._report = report
        self._on_event = on_event

    async def run(
        self, task: AgentTask, subagents: Sequence[Subagent], workspaces: Sequence[Path]
    ) -> Production:
        """Let every agent work on the task.

        Args:
            task: the task; its workspace, model, system prompt and temperature are replaced for each agent.
            subagents: the agents to run.
            workspaces: one for each agent.
        """
        made = [self._agents(each.spec) for each in subagents]
        told = _told_of(made)
        async with asyncio.TaskGroup() as group:
            works = [
                group.create_task(
                    self._work(replace(task, workspace=tree), index, subagent, made[index], told[index])
                )
                for index, (subagent, tree) in enumerate(zip(subagents, workspaces, strict=True))
            ]
        production = Production(tuple(each.result() for each in works))
        finished = production.succeeded
        return replace(production, chosen=finished[0].index) if len(finished) == 1 else production

    async def _work(
        self, task: AgentTask, index: int, subagent: Subagent, agent: Agent | AgentFailure, told: str | None
    ) -> CandidateOutcome:
        spec, started = subagent.spec, time.monotonic()
        candidate = _candidate(index, subagent, agent, task.workspace)
        calls = _ToolCalls(self._report(index))
        if isinstance(agent, AgentFailure):
            outcome: AgentOutcome = agent
        else:
            await self._on_event(SprintEventType.CANDIDATE_STARTED, _event_data(candidate, None))
            asked = replace(
                task,
                model=spec.model,
                system_prompt=spec.system_prompt,
                temperature=spec.temperature,
                inbox=task.inbox.of() if task.inbox is not None else None,
                session=replace(task.session, candidate=index) if task.session is not None else None,
            )
            with labelled(replace(current_labels(), candidate=index)):
                outcome = await _guarded(agent, asked, calls.take)
        ended = replace(
            candidate,
            model=outcome.model or candidate.model,
            outcome=outcome,
            tool_calls=calls.collected(),
            seconds=time.monotonic() - started,
        )
        kind = SprintEventType.CANDIDATE_FAILED if ended.error else SprintEventType.CANDIDATE_GENERATED
        await self._on_event(kind, _event_data(ended, told or ended.error))
        return ended


def _told_of(made: Sequence[Agent | AgentFailure]) -> list[str | None]:
    """Return what the events say of agents that could not be made: each reason once.

    If there is no other agent, the run's own trouble gives the reasons.
    """
    first: dict[str, int] = {}
    none_works = all(isinstance(each, AgentFailure) for each in made)
    told: list[str | None] = []
    for index, each in enumerate(made):
        if not isinstance(each, AgentFailure):
            told.append(None)
        elif none_works:
            told.append("not ready")
        elif (other := first.setdefault(each.message, index)) != index:
            told.append(f"not ready, for the same reason as candidate {other + 1}")
        else:
            told.append(each.message)
    return told


class _ToolCalls:
    """Passes progress on, and collects the tool calls with their results."""

    def __init__(self, report: ReportProgress) -> None:
        self._report = report
        self._calls: list[AgentToolCall] = []

    def take(self, progress: AgentProgress) -> None:
        tool = progress.tool or "tool"
        if progress.kind is ProgressKind.TOOL_CALL and len(self._calls) < MAX_TOOL_CALLS:
            self._calls.append(AgentToolCall(tool=tool, arguments=progress.text))
        elif progress.kind is ProgressKind.TOOL_RESULT:
            self._answer(tool, progress.text)
        self._report(progress)

    def _answer(self, tool: str, result: str) -> None:
        # Parallel calls of one tool mostly return in the order in which they were made.
        for position, each in enumerate(self._calls):
            if each.tool == tool and each.result is None:
                self._calls[position] = each.model_copy(update={"result": result})
                return

    def collected(self) -> tuple[AgentToolCall, ...]:
        return tuple(self._calls)


async def _guarded(agent: Agent, task: AgentTask, report: ReportProgress) -> AgentOutcome:
    try:
        return await agent.run(task, report)
    except Exception as error:
        # A defect in one agent must not end the work of the others.
        logger.exception("agent %s crashed", agent.name)
        return AgentFailure(FailureKind.CRASH, f"{agent.name} crashed: {type(error).__name__}: {error}")


def _candidate(
    index: int, subagent: Subagent, agent: Agent | AgentFailure, workspace: Path
) -> CandidateOutcome:
    spec = subagent.spec
    if isinstance(agent, AgentFailure):
        model, known = agent.model or spec.model, agent.agent or str(spec.backend)
        provider = model.partition(":")[0] if model else known
        name = subagent.name or known
        return CandidateOutcome(uuid4(), index, name, provider, model, workspace, agent)
    name = subagent.name or agent.name
    unfinished = AgentFailure(FailureKind.CRASH, "has not finished")
    return CandidateOutcome(uuid4(), index, name, agent.provider, agent.model, workspace, unfinished)


def _event_data(candidate: CandidateOutcome, error: str | None) -> CandidateData:
    return CandidateData(
        candidate=candidate.index,
        agent=candidate.agent,
        provider=candidate.provider,
        model=candidate.model,
        error=error,
    )
