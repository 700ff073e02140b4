"""The events of an installed agent at work, the same for every driver."""

from dataclasses import dataclass, field

from app.agents.port import FailureKind


@dataclass(frozen=True, slots=True)
class AgentSaid:
    """The agent wrote text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The agent called a tool.

    Attributes:
        tool: its name.
        text: summarises the arguments for people.
        exact: differs if the arguments differ; if empty, the summary does.
    """

    tool: str
    text: str
    exact: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A tool returned a result. `exact` differs if the results differ; if empty, the text does."""

    tool: str
    text: str
    exact: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SessionBegan:
    """The agent named its session."""

    session: str


@dataclass(frozen=True, slots=True)
class AgentFinished:
    """The agent's final event. If `text` is None, its last text is the final message."""

    text: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The agent reported a failure. `kind` is the kind of reason, as far as known."""

    message: str
    kind: FailureKind = FailureKind.PROTOCOL


@dataclass(frozen=True, slots=True)
class AgentStirred:
    """The agent did something that is not shown, such as a thought."""


AgentEvent = AgentSaid | ToolCalled | ToolReturned | SessionBegan | AgentFinished | Failed | AgentStirred


@dataclass(slots=True)
class AgentEnding:
    """How an agent's work ended, as far as the agent reports it.

    Attributes:
        final: its final message; None without a final event.
        error: its message about its failure.
        error_kind: the kind of that failure.
        session: its name for the session.
        tool_calls: how many tools it called.
        status: exit status; None if it did not end by itself.
        stderr: the start and the end of its standard error.
    """

    final: str | None = None
    error: str | None = None
    error_kind: FailureKind = FailureKind.PROTOCOL
    session: str | None = None
    tool_calls: int = 0
    status: int | None = None
    stderr: str = ""
    _last_said: str = field(default="", repr=False)

    @property
    def is_over(self) -> bool:
        """True once the agent has reported the end of its work."""
        return self.final is not None or self.error is not None

    def take(self, event: AgentEvent) -> None:
        """Update the ending with an event."""
        match event:
            case AgentSaid(text):
                self._last_said = text
            case ToolCalled():
                self.tool_calls += 1
            case SessionBegan(session):
                self.session = session
            case AgentFinished(text):
                self.final = self._last_said if text is None else text
            case Failed(message, kind):
                self.error, self.error_kind = message or "the agent gave no reason", kind
            case ToolReturned() | AgentStirred():
                pass
