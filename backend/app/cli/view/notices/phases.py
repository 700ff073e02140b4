"""Notices about phases."""

from collections.abc import Iterable

from app.cli.view.notices.notice import TerminalNotice, because, is_sprint, place_words, say, try_word
from app.cli.view.state import WatchedRun
from app.cli.view.text import one_line
from app.core.events.phases import PhaseCompletedEvent, PhaseFailedEvent, PhaseStartedEvent


@say.register
def _(event: PhaseStartedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    if is_sprint(state):
        yield TerminalNotice("active", f"Phase {event.phase}", depth=1)


@say.register
def _(event: PhaseCompletedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    place = place_words(event, state)
    if event.data.accepted_by:
        yield TerminalNotice("accepted", f"{place} accepted by {one_line(event.data.accepted_by)}", depth=1)
    elif is_sprint(state):
        yield TerminalNotice("passed", f"{place} passed in attempt {event.data.attempts}", depth=1)
    else:
        yield TerminalNotice(
            "completed", f"{place} ends with {try_word(state)} {event.data.attempts}", depth=1
        )


@say.register
def _(event: PhaseFailedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    yield TerminalNotice("failed", f"{place_words(event, state)} failed{because(event.data.reason)}", depth=1)
