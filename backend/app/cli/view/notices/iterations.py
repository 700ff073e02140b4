"""Notices about the iterations of a loop."""

from collections.abc import Iterable

from app.cli.view.notices.notice import EVIDENCE_LINES, TerminalNotice, say
from app.cli.view.state import WatchedRun
from app.cli.view.text import first_lines, one_line
from app.core.events.iterations import (
    IterationCompletedEvent,
    IterationDirectedEvent,
    IterationFailedEvent,
    IterationScriptedEvent,
    SubtaskCompletedEvent,
    SubtaskStartedEvent,
)


@say.register
def _(event: IterationDirectedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    words = "asks for a person" if event.data.status == "WAITING" else "proposes"
    details = first_lines(event.data.output, EVIDENCE_LINES)
    yield TerminalNotice("produced", f"The director {words}", details, depth=3)


@say.register
def _(event: IterationScriptedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    code = event.data.exit_code
    details = first_lines(event.data.stderr or event.data.stdout, EVIDENCE_LINES) if code else ()
    yield TerminalNotice("failed" if code else "passed", f"The script ended with {code}", details, depth=3)


@say.register
def _(event: IterationCompletedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    if event.data.condition_trouble:
        text = f"The condition to stop could not be evaluated: {one_line(event.data.condition_trouble)}"
        yield TerminalNotice("warn", text, depth=3)
    elif event.data.condition_met:
        yield TerminalNotice("info", "The condition to stop is met", depth=3)


@say.register
def _(event: IterationFailedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    text = f"Iteration {event.data.iteration} could not be carried out ({one_line(event.data.reason)})"
    yield TerminalNotice("errored", text, first_lines(event.data.message, EVIDENCE_LINES), depth=3)


@say.register
def _(event: SubtaskStartedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    details = first_lines(event.data.description, EVIDENCE_LINES)
    yield TerminalNotice(
        "started", f"The director asks for a subtask: {event.data.subtask_run_id}", details, depth=3
    )


@say.register
def _(event: SubtaskCompletedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    look, words = {
        None: ("errored", "gave no result"),
        True: ("passed", "is done"),
        False: ("failed", "ended without success"),
    }[event.data.success]
    yield TerminalNotice(
        look, f"The subtask {words}", first_lines(event.data.output, EVIDENCE_LINES), depth=3
    )
