"""Turns an installed agent's events into bounded progress, because an agent may print without end."""

from datetime import UTC, datetime

from app.agents.external.events import AgentEvent, AgentSaid, Failed, ToolCalled, ToolReturned
from app.agents.external.outputs import clip
from app.agents.port import AgentProgress, ProgressKind, ReportProgress
from app.schemas.text import storable_text

MAX_TEXT_CHARS = 4_000
MAX_TOTAL_CHARS = 2_000_000
"""Maximum characters of progress of one piece of work; the rest is not shown."""

_LINE_COST = 100


class ExternalNarrator:
    """Reports text, tool calls and results."""

    def __init__(self, report: ReportProgress) -> None:
        self._report = report
        self._left = MAX_TOTAL_CHARS

    def take(self, event: AgentEvent) -> None:
        """Report an event, if it has something to show."""
        match event:
            case AgentSaid(text):
                self._tell(ProgressKind.TEXT, text)
            case ToolCalled(tool, text):
                self._tell(ProgressKind.TOOL_CALL, text, tool)
            case ToolReturned(tool, text):
                self._tell(ProgressKind.TOOL_RESULT, text, tool)
            case Failed(message):
                self._tell(ProgressKind.TEXT, message)
            case _:
                pass

    def _tell(self, kind: ProgressKind, text: str, tool: str | None = None) -> None:
        if self._left <= 0 or (tool is None and not text.strip()):
            return
        # Storing a line costs at least as much as storing `_LINE_COST` characters.
        self._left -= max(_LINE_COST, min(len(text), MAX_TEXT_CHARS))
        if self._left <= 0:
            kind, text, tool = ProgressKind.TEXT, "The agent prints very much; the rest is not shown.", None
        shown = storable_text(clip(text, MAX_TEXT_CHARS))
        self._report(AgentProgress(kind, shown, datetime.now(UTC), tool))
