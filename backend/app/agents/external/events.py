"""What an installed agent tells while it works, whichever way it is driven."""

from dataclasses import dataclass, field

from app.agents.port import FailureKind


@dataclass(frozen=True, slots=True)
class Said:
    """It wrote text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """It called a tool; `text` is what a person needs to know of the arguments."""

    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A tool gave a result."""

    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class SessionBegan:
    """It named its session."""

    session: str


@dataclass(frozen=True, slots=True)
class Finished:
    """Its final event. `text` None: what it said last is its final message."""

    text: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """It says that it failed; `kind` is what is known of the reason."""

    message: str
    kind: FailureKind = FailureKind.PROTOCOL


@dataclass(frozen=True, slots=True)
class Stirred:
    """It did something that is not shown, such as a thought."""


AgentEvent = Said | ToolCalled | ToolReturned | SessionBegan | Finished | Failed | Stirred


@dataclass(slots=True)
class Ending:
    """How an agent's work ended, as far as the agent tells.

    Attributes:
        final: its final message; None without a final event.
        error: what it says of its failure.
        error_kind: of which kind that is.
        session: what it calls its session.
        tool_calls: how many tools it called.
        status: exit status; None when it did not end by itself.
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
        """True once the agent has told how its work ended."""
        return self.final is not None or self.error is not None

    def take(self, event: AgentEvent) -> None:
        """Note what an event means for the ending."""
        match event:
            case Said(text):
                self._last_said = text
            case ToolCalled():
                self.tool_calls += 1
            case SessionBegan(session):
                self.session = session
            case Finished(text):
                self.final = self._last_said if text is None else text
            case Failed(message, kind):
                self.error, self.error_kind = message or "the agent gave no reason", kind
            case ToolReturned() | Stirred():
                pass
