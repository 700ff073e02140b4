"""Notices about evaluations, and about the feedback for the next attempt."""

from collections.abc import Iterable

from app.cli.view.notices.notice import EVIDENCE_LINES, TerminalNotice, because, say, tried_again, try_word
from app.cli.view.state import WatchedRun
from app.cli.view.text import first_lines, one_line
from app.cli.view.words import duration, part_of
from app.core.events.evaluations import (
    EvaluationCompletedEvent,
    EvaluationData,
    EvaluationFailedEvent,
    EvaluationStartedEvent,
    EvaluatorCompletedEvent,
    OptimizationStartedEvent,
)

TOLD_LINES = 8


@say.register
def _(event: EvaluationStartedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    names = one_line(", ".join(event.data.evaluators))
    yield TerminalNotice("evaluating", f"Evaluating: {names}", depth=3, is_chatter=True)


@say.register
def _(event: EvaluatorCompletedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    yield _verdict(event.data)


@say.register
def _(event: EvaluationCompletedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    data = event.data
    word = "passed" if data.overall_passed else "failed"
    score = f", score {data.score:.2f}" if data.score is not None else ""
    yield TerminalNotice(
        word, f"{try_word(state).capitalize()} {event.attempt} {word}{score}{because(data.reason)}"
    )


@say.register
def _(event: EvaluationFailedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    again = tried_again(event.data.retry_in_seconds)
    text = f"{try_word(state).capitalize()} {event.attempt} could not be evaluated{again}"
    yield TerminalNotice("errored", text, first_lines(event.data.reason, EVIDENCE_LINES))


@say.register
def _(event: OptimizationStartedEvent, state: WatchedRun) -> Iterable[TerminalNotice]:
    told = [f"- {one_line(each)}" for each in event.data.issues]
    told += [f"reviewer: {one_line(each)}" for each in event.data.guidance]
    shown = tuple(told[:TOLD_LINES])
    if len(told) > TOLD_LINES:
        shown = (*shown, f"… {len(told) - TOLD_LINES} more")
    yield TerminalNotice("retry", f"Feedback to attempt {event.data.next_attempt}", shown)


def _verdict(data: EvaluationData) -> TerminalNotice:
    state = data.status or ("passed" if data.passed else "failed")
    marks = [part_of(gate=data.gate, observed=data.observed)] if data.gate is not None else []
    if state in ("passed", "failed"):
        marks.append(f"{data.score:.2f}")
    if data.duration_ms is not None:
        marks.append(duration(data.duration_ms / 1000))
    text = f"{one_line(data.evaluator_name)} {state}" + (f" ({', '.join(marks)})" if marks else "")
    return TerminalNotice(state, text, _evidence(data) if state != "passed" else (), depth=3)


def _evidence(data: EvaluationData) -> tuple[str, ...]:
    feedback = first_lines(data.feedback, EVIDENCE_LINES)
    if len(feedback) > 1:
        return feedback  # it contains the details itself
    return (*feedback, *(f"- {one_line(each)}" for each in data.suggestions[: EVIDENCE_LINES - 1]))
