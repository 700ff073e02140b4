"""Turns the events of a model's run into progress reports for people."""

from datetime import UTC, datetime

from pydantic_ai.messages import (
    AgentStreamEvent,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)

from app.agents.port import AgentProgress, ProgressKind, ReportProgress

MAX_TEXT_CHARS = 4_000
_MAX_ARGUMENT_CHARS = 160


class BuiltInNarrator:
    """Reports text line by line, and each tool call with its result."""

    def __init__(self, report: ReportProgress) -> None:
        self._report = report
        self._line = ""

    def take(self, event: AgentStreamEvent) -> None:
        """Report an event, if it has something to show."""
        match event:
            case PartStartEvent(part=TextPart(content=text)):
                self._add(text)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                self._add(text)
            case PartEndEvent():
                self._flush()
            case FunctionToolCallEvent(part=call):
                self._tell(ProgressKind.TOOL_CALL, describe_call(call), call.tool_name)
            case FunctionToolResultEvent(part=result):
                self._tell(ProgressKind.TOOL_RESULT, result.model_response_str(), result.tool_name)
            case _:
                pass

    def _add(self, text: str) -> None:
        *whole, self._line = (self._line + text).split("\n")
        for line in whole:
            self._tell_line(line)
        if len(self._line) > MAX_TEXT_CHARS:
            self._flush()

    def _flush(self) -> None:
        self._tell_line(self._line)
        self._line = ""

    def _tell_line(self, line: str) -> None:
        if line.strip():
            self._tell(ProgressKind.TEXT, line)

    def _tell(self, kind: ProgressKind, text: str, tool: str | None = None) -> None:
        self._report(AgentProgress(kind, _clip(text, MAX_TEXT_CHARS), datetime.now(UTC), tool))


def describe_call(call: ToolCallPart) -> str:
    """Return a tool call's arguments in one short line."""
    try:
        arguments = call.args_as_dict()
    except (ValueError, AssertionError):
        return _clip(f"unreadable arguments: {call.args}", MAX_TEXT_CHARS)
    return ", ".join(
        f"{name}={_clip(str(value), _MAX_ARGUMENT_CHARS)!r}" for name, value in arguments.items()
    )


def _clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 2] + " …"
