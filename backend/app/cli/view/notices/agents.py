"""Notices about an agent at work."""

from collections.abc import Iterable

from app.cli.view.notices.notice import EVIDENCE_LINES, TerminalNotice, because, say, tried_again
from app.cli.view.state import WatchedRun
from app.cli.view.text import first_lines, harmless, one_line
from app.core.events.agents import (
    AgentFailedEvent,
    AgentMessageEvent,
    AgentProgressEvent,
    ToolCalledEvent,
    ToolResultEvent,
)


@say.register
def _(event: AgentMessageEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    data = event.data
    words = f"{one_line(data.by)} says ({data.status}): {one_line(data.text, 300)}{because(data.reason)}"
    yield TerminalNotice("info", words, depth=2)


@say.register
def _(event: AgentFailedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    text = f"The agent failed ({event.data.kind}){tried_again(event.data.retry_in_seconds)}"
    yield TerminalNotice("errored", text, first_lines(event.data.message, EVIDENCE_LINES), depth=3)


@say.register
def _(event: AgentProgressEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    for line in event.data.lines:
        head, *rest = harmless(line.text).splitlines() or [""]
        yield TerminalNotice("info", head, tuple(rest), depth=3, is_chatter=True)


@say.register
def _(event: ToolCalledEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    yield TerminalNotice("active", one_line(f"{event.data.tool} {event.data.text}"), depth=3, is_chatter=True)


@say.register
def _(event: ToolResultEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    lines = first_lines(event.data.text, EVIDENCE_LINES) or ("(nothing)",)
    yield TerminalNotice("info", f"{one_line(event.data.tool)} gave", lines, depth=3, is_chatter=True)
