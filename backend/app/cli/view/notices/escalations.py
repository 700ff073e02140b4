"""Notices about escalations."""

from collections.abc import Iterable

from app.cli.view.notices.notice import EVIDENCE_LINES, TerminalNotice, because, place_words, say, try_word
from app.cli.view.state import WatchedRun
from app.cli.view.text import first_lines, one_line
from app.cli.view.words import duration
from app.core.events.escalations import (
    EscalationAssignedEvent,
    EscalationReminderEvent,
    EscalationRequiredEvent,
    EscalationResolvedEvent,
)


@say.register
def _(event: EscalationRequiredEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    yield TerminalNotice(
        "waiting", f"{place_words(event, state)} waits for a person{because(event.data.reason)}", depth=1
    )


@say.register
def _(event: EscalationReminderEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    waited = duration(event.data.waiting_seconds)
    text = f"{place_words(event, state)} still waits for a person, for {waited}{because(event.data.reason)}"
    yield TerminalNotice("waiting", text, depth=1)


@say.register
def _(event: EscalationAssignedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    data = event.data
    if data.assigned_to is None:
        text = f"{one_line(data.before or 'a reviewer')} released the escalation"
    else:
        text = f"{one_line(data.assigned_to)} took the escalation"
    yield TerminalNotice("waiting", text, depth=1)


@say.register
def _(event: EscalationResolvedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    data = event.data
    more = data.additional_attempts
    extra = f", {more} more {try_word(state)}{'' if more == 1 else 's'}" if more else ""
    text = f"{one_line(data.decided_by)} decided: {data.decision}{extra}"
    yield TerminalNotice("resolved", text, first_lines(data.guidance, EVIDENCE_LINES), depth=1)
