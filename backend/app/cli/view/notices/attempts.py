"""Notices about attempts."""

from collections.abc import Iterable

from app.cli.view.notices.notice import TerminalNotice, because, is_sprint, say, try_word
from app.cli.view.state import WatchedRun
from app.cli.view.text import one_line
from app.core.events.attempts import AttemptInterruptedEvent, AttemptProducedEvent, AttemptStartedEvent


@say.register
def _(event: AttemptStartedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    phase = state.phase(event.phase)
    of = f" of {phase.max_attempts}" if phase and phase.max_attempts else ""
    again = ", taken over" if event.data.taken_over else ", again" if event.data.resumed else ""
    who = "director" if state.kind == "director_loop" else "agent"
    yield TerminalNotice(
        "started", f"{try_word(state).capitalize()} {event.attempt}{of}{again}: the {who} works"
    )


@say.register
def _(event: AttemptProducedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    if not is_sprint(state):
        return  # The result of a director or a synthesizer is a text.
    files = event.data.changed_files
    changed = f"{len(files)} file{'' if len(files) == 1 else 's'} changed" if files else "nothing changed"
    details = [one_line(", ".join(files[:8]) + (f" and {len(files) - 8} more" if len(files) > 8 else ""))]
    details += [f"dropped: {one_line(each)}" for each in event.data.dropped[:5]]
    yield TerminalNotice(
        "produced", f"The agent is done: {changed}", tuple(each for each in details if each), depth=3
    )


@say.register
def _(event: AttemptInterruptedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    yield TerminalNotice(
        "errored",
        f"{try_word(state).capitalize()} {event.attempt} was interrupted{because(event.data.reason)}",
    )
