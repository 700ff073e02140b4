"""Our side of an ACP conversation: turns an agent's updates into events, and grants permissions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AllowedOutcome,
    ContentToolCallContent,
    DeniedOutcome,
    FileEditToolCallContent,
    PermissionOption,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
)

from app.agents.external.command import TakeEvent
from app.agents.external.events import (
    AgentEnding,
    AgentEvent,
    AgentFinished,
    AgentSaid,
    AgentStirred,
    Failed,
    ToolCalled,
    ToolReturned,
)
from app.agents.external.outputs import describe_arguments, exact_arguments
from app.agents.port import FailureKind

_LINE_CHARS = 4_000
_ALLOWING = ("allow_always", "allow_once")


@dataclass(slots=True)
class _OpenCall:
    """A tool call in progress.

    Attributes:
        tool: the name of the tool.
        title: the agent's words for the call.
        is_told: False until its arguments are known.
    """

    tool: str
    title: str
    is_told: bool = False


class Talk:
    """Our side of the conversation: receives updates and grants permissions.

    It grants every permission, because the sandbox is the limit.
    """

    def __init__(self, ending: AgentEnding, take: TakeEvent) -> None:
        self.session: str | None = None
        self.is_cancelled = False
        self.is_replayed = False
        self._ending = ending
        self._take = take
        self._line = ""
        self._message = ""
        self._calls: dict[str, _OpenCall] = {}

    def tell(self, event: AgentEvent) -> None:
        """Pass an event on."""
        self._ending.take(event)
        self._take(event)

    def begin(self) -> None:
        """Start a turn. The way in which the previous turn ended does not count for this one."""
        self._message, self._ending.final = "", None

    def end(self, stop_reason: str) -> None:
        """Record the end of the turn."""
        self._flush()
        match stop_reason:
            case "end_turn":
                self.tell(AgentFinished(self._message.strip()))
            case "max_tokens" | "max_turn_requests":
                self.tell(Failed(f"it stopped at its own limit ({stop_reason})", FailureKind.LIMIT))
            case _:
                self.tell(Failed(f"it stopped: {stop_reason}"))

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        """Allow the request. Option ids differ between agents, but option kinds do not."""
        for kind in () if self.is_cancelled else _ALLOWING:
            for option in options:
                if option.kind == kind:
                    allowed = AllowedOutcome(outcome="selected", option_id=option.option_id)
                    return RequestPermissionResponse(outcome=allowed)
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))

    async def session_update(self, session_id: str, update: object, **_: Any) -> None:
        """Turn an update into events. Updates that replay an earlier conversation are not reported."""
        if self.is_replayed:
            self._take(AgentStirred())
            return
        match update:
            case AgentMessageChunk(content=TextContentBlock(text=text)):
                self._add(text)
            case ToolCallStart():
                self._flush()
                self._message = ""
                call = _OpenCall(update.kind or update.title, update.title)
                self._calls[update.tool_call_id] = call
                if update.raw_input != {}:
                    self._tell_call(call, update)
            case ToolCallProgress():
                self._go_on(update)
            case AgentPlanUpdate(entries=entries):
                plan = "; ".join(f"{each.content} ({each.status})" for each in entries)
                self.tell(AgentSaid(f"Plan: {plan}"))
            case _:
                self.tell(AgentStirred())

    def _go_on(self, update: ToolCallProgress) -> None:
        """Report a call once its arguments are known, and its result.

        Some agents begin a call with empty arguments and name them in an update.
        """
        call = self._calls.get(update.tool_call_id)
        is_over = update.status in ("completed", "failed")
        if call is not None and not call.is_told and (update.raw_input or is_over):
            self._tell_call(call, update)
        if not is_over:
            self.tell(AgentStirred())
            return
        self._calls.pop(update.tool_call_id, None)
        tool = call.tool if call is not None else update.kind or "tool"
        failed = "failed: " if update.status == "failed" else ""
        told = _content(update.content) or update.title or ""
        self.tell(ToolReturned(tool, f"{failed}{told}", exact=f"{failed}{told}{_edits(update.content)}"))

    def _tell_call(self, call: _OpenCall, update: ToolCallStart | ToolCallProgress) -> None:
        call.is_told = True
        title = update.title or call.title
        given = update.raw_input
        exact = f"{title}\n{exact_arguments(given)}"
        self.tell(ToolCalled(call.tool, describe_arguments(given) or title, exact=exact))

    def _add(self, text: str) -> None:
        self._message += text
        *whole, self._line = (self._line + text).split("\n")
        for line in whole:
            self.tell(AgentSaid(line))
        if len(self._line) > _LINE_CHARS:
            self._flush()
        self.tell(AgentStirred())

    def _flush(self) -> None:
        if self._line:
            self.tell(AgentSaid(self._line))
        self._line = ""


def _content(content: Sequence[object] | None) -> str:
    parts = (each.content for each in content or () if isinstance(each, ContentToolCallContent))
    return "\n".join(each.text for each in parts if isinstance(each, TextContentBlock))


def _edits(content: Sequence[object] | None) -> str:
    edits = (each for each in content or () if isinstance(each, FileEditToolCallContent))
    return "".join(f"\n{each.path}\n{each.new_text}" for each in edits)
