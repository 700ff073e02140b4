"""Notices about a run as a whole."""

from collections.abc import Iterable

from app.cli.view.notices.notice import TerminalNotice, because, is_sprint, kind_word, say, try_word
from app.cli.view.state import WatchedRun
from app.cli.view.text import one_line
from app.cli.view.words import SCRIPT_WARNING
from app.core.events.runs import (
    RunCancelledEvent,
    RunCreatedEvent,
    RunPausedEvent,
    RunResumedEvent,
    WorkflowCompletedEvent,
    WorkflowFailedEvent,
)


@say.register
def _(event: RunCreatedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    data = event.data
    details = (f"goal    {one_line(data.goal)}", f"source  {one_line(data.source)}")
    yield TerminalNotice(
        "info", f"{kind_word(state)} {event.run_id}  {one_line(data.name)}", details, depth=0
    )
    if data.scripted:
        yield TerminalNotice("warn", f"{SCRIPT_WARNING} ({one_line(data.agent)})", depth=0)
    else:
        yield TerminalNotice("info", f"agent   {one_line(data.agent)}", depth=0)
    if data.forked_from is not None:
        origin = data.forked_from
        place = f"{one_line(origin.phase)}/{origin.attempt} of sprint {origin.run_id}"
        yield TerminalNotice("info", f"starts from the files of {place}", depth=0)


@say.register
def _(event: RunCancelledEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    yield TerminalNotice(
        "cancelled",
        f"{kind_word(state)} cancelled by {one_line(event.data.by)}{because(event.data.reason)}",
        depth=0,
    )


@say.register
def _(event: RunPausedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    text = f"{kind_word(state)} paused by {one_line(event.data.by)}{because(event.data.reason)}"
    yield TerminalNotice("paused", text, depth=0)


@say.register
def _(event: RunResumedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    yield TerminalNotice("active", f"{kind_word(state)} resumed by {one_line(event.data.by)}", depth=0)


@say.register
def _(event: WorkflowCompletedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    attempts = event.data.attempts
    tries = f"{attempts} {try_word(state)}{'' if attempts == 1 else 's'}"
    if is_sprint(state):
        names = dict.fromkeys(one_line(each.accepted_by) for each in state.phases if each.accepted_by)
        status, end = ("accepted", f"accepted by {', '.join(names)}") if names else ("passed", "passed")
        commit = (event.data.commit or "none")[:12]
        yield TerminalNotice(status, f"{kind_word(state)} {end} after {tries}, commit {commit}", depth=0)
        return
    text = f"{kind_word(state)} is complete after {tries}{because(event.data.reason)}"
    yield TerminalNotice("completed", text, depth=0)


@say.register
def _(event: WorkflowFailedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    by = f" by {one_line(event.data.by)}" if event.data.by else ""
    yield TerminalNotice("failed", f"{kind_word(state)} failed{by}{because(event.data.reason)}", depth=0)
