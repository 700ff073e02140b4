"""The port that every coding agent implements: a task in, progress on the way, a result out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from app.agents.stuck import StuckLimits


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """Limits on one piece of work. None means no limit; seconds are wall clock, cost is in US dollars.

    `stuck` says when an agent that goes round in circles is ended. `start_seconds` limits each answer of an
    agent at its start, before it works.
    """

    seconds: float = 1800.0
    requests: int | None = 100
    total_tokens: int | None = None
    cost_usd: float | None = None
    stuck: StuckLimits = field(default_factory=StuckLimits)
    start_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class SessionPlace:
    """Where agents keep their conversations, so that a later attempt can continue them.

    Attributes:
        directory: on this machine; each candidate has its own directory in it.
        subject: what the conversation is about. A conversation about another subject is not continued.
        candidate: number of the candidate, from 0.
        start: the commit that the tree holds at first. Interrupted work is only continued on the same commit.
        continues: True if the agent may continue a conversation that has ended. Otherwise it continues only
            an
            interrupted one, and ended ones are not kept.
        interrupted: True if the task was interrupted before.
    """

    directory: Path
    subject: str
    candidate: int = 0
    start: str = ""
    continues: bool = True
    interrupted: bool = False

    @property
    def is_wanted(self) -> bool:
        """True if a reason must be given when the agent does not continue an earlier conversation."""
        return self.continues or self.interrupted


@dataclass(frozen=True, slots=True)
class SessionUse:
    """Whether an agent continued an earlier conversation. `note` says why not, if it should have."""

    continued: bool = False
    note: str = ""


class MessageInbox(Protocol):
    """Messages from people to an agent at work."""

    def of(self) -> "MessageInbox":
        """Return the inbox of one candidate. Every candidate gets the same messages."""
        ...

    async def take(self, *, at_end: bool) -> str | None:
        """Return the messages that are due as one text, or None. Each message is returned once.

        Args:
            at_end: True if the agent has ended its work; False if it is about to ask a model.
        """
        ...


@dataclass(frozen=True, slots=True)
class AgentTask:
    """The task of an agent.

    Attributes:
        phase: `discovery`, `coding` or `verification`, or the phase of another kind of run.
        attempt: number of the attempt, from 1.
        prompt: the complete prompt.
        workspace: the only directory that the agent may touch; it has no `.git`.
        limits: exceeding one is an `AgentFailure` with kind `LIMIT`.
        model: `provider:model`, if the backend offers a choice.
        system_prompt: replaces the backend's own.
        temperature: sampling temperature, if the model has one.
        python: interpreter with the packages that the workspace's tests need; None is the agent's usual one.
        session: where to keep the conversation and find an earlier one; None starts a new one.
        inbox: messages from people; None if there are none.
        has_work: True if the workspace holds changes from an earlier try of this task.
    """

    phase: str
    attempt: int
    prompt: str
    workspace: Path
    limits: AgentLimits = AgentLimits()
    model: str | None = None
    system_prompt: str | None = None
    temperature: float | None = None
    python: Path | None = None
    session: SessionPlace | None = None
    inbox: MessageInbox | None = None
    has_work: bool = False


class ProgressKind(StrEnum):
    """What a progress line reports."""

    TEXT = "text"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"


@dataclass(frozen=True, slots=True)
class AgentProgress:
    """One action of the agent. `text` is plain text of at most a few kilobytes; it is data, never markup."""

    kind: ProgressKind
    text: str
    at: datetime
    tool: str | None = None


ReportProgress = Callable[[AgentProgress], None]
"""Receives progress without waiting. The receiver takes care of batching and storing."""


@dataclass(frozen=True, slots=True)
class AgentUsage:
    """The consumption of the work.

    `cost_usd` is None if the model's price is unknown: unknown is not zero.
    """

    requests: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    @property
    def total_tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class AgentResult:
    """The agent stopped by itself. `output` is its final message: a claim, not evidence."""

    output: str
    usage: AgentUsage = AgentUsage()
    model: str | None = None
    transcript: tuple[Mapping[str, Any], ...] = ()
    session: SessionUse = SessionUse()


class FailureKind(StrEnum):
    """Why an agent could not do its work.

    `CONFIGURATION` (no key, a rejected key, an unknown model) is not worth a retry, because a person must
    act. `UNAVAILABLE` (rate limit, server error, network, timeout of a request, a stream cut short) and
    `PROTOCOL` (an unreadable answer) are retried with backoff. `LIMIT` is one of `AgentLimits`. `BUDGET` is a
    budget of the run or of the day: the run escalates. `CRASH` is a defect of the backend.
    """

    CONFIGURATION = "configuration"
    UNAVAILABLE = "unavailable"
    PROTOCOL = "protocol"
    LIMIT = "limit"
    BUDGET = "budget"
    CRASH = "crash"


@dataclass(frozen=True, slots=True)
class AgentFailure:
    """The agent did not finish. This is a value, not an exception, and uses up no attempt.

    `retry_at` is when the provider's limit ends, if the provider says so. `session` says whether the agent
    continued an earlier conversation before it failed. `agent` names an agent that could not be made.
    """

    kind: FailureKind
    message: str
    usage: AgentUsage = field(default_factory=AgentUsage)
    model: str | None = None
    retry_at: datetime | None = None
    session: SessionUse = SessionUse()
    agent: str | None = None


AgentOutcome = AgentResult | AgentFailure


class Agent(Protocol):
    """A coding agent. Cancelling `run` ends its work and its processes."""

    @property
    def name(self) -> str:
        """The name for users. The scripted agent's name says that it is a script."""
        ...

    @property
    def provider(self) -> str:
        """`scripted`, `anthropic`, `openai`, …"""
        ...

    @property
    def model(self) -> str | None:
        """The model that it uses by default, if any."""
        ...

    async def run(self, task: AgentTask, report: ReportProgress) -> AgentOutcome:
        """Work on the task inside `task.workspace`."""
        ...
