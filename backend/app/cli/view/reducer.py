"""Derives a watched run's state from events. Pure: the same events in order always give the same state."""

from collections.abc import Callable
from dataclasses import replace
from functools import singledispatch

from app.cli.view.state import AttemptProgress, OpenEscalation, PhaseState, WatchedRun
from app.cli.view.text import one_line
from app.core.events.agents import AgentFailedEvent, AgentProgressEvent, ToolCalledEvent
from app.core.events.attempts import AttemptInterruptedEvent, AttemptProducedEvent, AttemptStartedEvent
from app.core.events.envelope import Envelope
from app.core.events.escalations import EscalationRequiredEvent, EscalationResolvedEvent
from app.core.events.evaluations import (
    EvaluationCompletedEvent,
    EvaluationFailedEvent,
    EvaluationStartedEvent,
    EvaluatorCompletedEvent,
)
from app.core.events.phases import PhaseCompletedEvent, PhaseFailedEvent, PhaseStartedEvent
from app.core.events.runs import (
    RunCancelledEvent,
    RunCreatedEvent,
    WorkflowCompletedEvent,
    WorkflowFailedEvent,
    WorkflowStartedEvent,
    WorkflowStatusEvent,
)
from app.core.events.union import Event

SHOWN_ACTIVITY = 3


def reduce(state: WatchedRun, event: Event) -> WatchedRun:
    """Return the state after `event`. An event that was seen before (after a reconnect) changes nothing."""
    if event.sequence <= state.last_sequence:
        return state
    return replace(_apply(event, state), last_sequence=event.sequence)


@singledispatch
def _apply(event: Envelope, state: WatchedRun) -> WatchedRun:
    return state


@_apply.register
def _(event: RunCreatedEvent, state: WatchedRun) -> WatchedRun:
    data = event.data
    return replace(
        state,
        id=event.run_id,
        kind=data.kind,
        name=data.name,
        goal=data.goal,
        agent=data.agent,
        scripted=data.scripted,
        phases=tuple(PhaseState(name, data.max_attempts) for name in data.phases),
    )


@_apply.register
def _(event: RunCancelledEvent, state: WatchedRun) -> WatchedRun:
    return _end(state, "cancelled", event.data.reason)


@_apply.register
def _(event: WorkflowStartedEvent, state: WatchedRun) -> WatchedRun:
    return replace(state, id=event.run_id, status="active")


@_apply.register
def _(event: WorkflowStatusEvent, state: WatchedRun) -> WatchedRun:
    return replace(state, status=event.data.status, reason=event.data.reason)


@_apply.register
def _(event: WorkflowCompletedEvent, state: WatchedRun) -> WatchedRun:
    return replace(state, status="completed", reason="", commit=event.data.commit, escalation=None)


@_apply.register
def _(event: WorkflowFailedEvent, state: WatchedRun) -> WatchedRun:
    return _end(state, "failed", event.data.reason)


@_apply.register
def _(event: PhaseStartedEvent, state: WatchedRun) -> WatchedRun:
    started = replace(state, status="active")
    return _with_phase(
        started, event, lambda phase: replace(phase, status="active", max_attempts=event.data.max_attempts)
    )


@_apply.register
def _(event: PhaseCompletedEvent, state: WatchedRun) -> WatchedRun:
    return _with_phase(
        state, event, lambda phase: replace(phase, status="completed", accepted_by=event.data.accepted_by)
    )


@_apply.register
def _(event: PhaseFailedEvent, state: WatchedRun) -> WatchedRun:
    return _with_phase(state, event, lambda phase: replace(phase, status="failed"))


@_apply.register
def _(event: AttemptStartedEvent, state: WatchedRun) -> WatchedRun:
    # A worker that takes over starts the same number again, and its predecessor's work is void.
    fresh = AttemptProgress(event.attempt or 1, "working", event.timestamp)

    def begin(phase: PhaseState) -> PhaseState:
        others = tuple(each for each in phase.attempts if each.number != fresh.number)
        return replace(phase, status="active", attempts=(*others, fresh))

    return _with_phase(replace(state, status="active"), event, begin)


@_apply.register
def _(event: AgentProgressEvent, state: WatchedRun) -> WatchedRun:
    lines = tuple(one_line(line.text) for line in event.data.lines if line.text.strip())
    return _with_attempt(state, event, lambda attempt: _active(attempt, lines))


@_apply.register
def _(event: ToolCalledEvent, state: WatchedRun) -> WatchedRun:
    line = one_line(f"{event.data.tool} {event.data.text}")

    def call(attempt: AttemptProgress) -> AttemptProgress:
        return replace(_active(attempt, (line,)), tool_calls=attempt.tool_calls + 1)

    return _with_attempt(state, event, call)


@_apply.register
def _(event: AgentFailedEvent, state: WatchedRun) -> WatchedRun:
    trouble = one_line(event.data.message)
    return _with_attempt(state, event, lambda attempt: replace(attempt, trouble=trouble))


@_apply.register
def _(event: AttemptInterruptedEvent, state: WatchedRun) -> WatchedRun:
    trouble = one_line(event.data.reason)
    return _with_attempt(state, event, lambda attempt: replace(attempt, trouble=trouble))


@_apply.register
def _(event: AttemptProducedEvent, state: WatchedRun) -> WatchedRun:
    def produced(attempt: AttemptProgress) -> AttemptProgress:
        return replace(attempt, step="judging", started_at=event.timestamp, activity=(), trouble="")

    return _with_attempt(state, event, produced)


@_apply.register
def _(event: EvaluationStartedEvent, state: WatchedRun) -> WatchedRun:
    names = tuple(event.data.evaluators)

    def judging(attempt: AttemptProgress) -> AttemptProgress:
        return replace(
            attempt, step="judging", started_at=event.timestamp, evaluators=names, verdicts=(), trouble=""
        )

    return _with_attempt(state, event, judging)


@_apply.register
def _(event: EvaluatorCompletedEvent, state: WatchedRun) -> WatchedRun:
    return _with_attempt(
        state, event, lambda attempt: replace(attempt, verdicts=(*attempt.verdicts, event.data))
    )


@_apply.register
def _(event: EvaluationCompletedEvent, state: WatchedRun) -> WatchedRun:
    data = event.data

    def judged(attempt: AttemptProgress) -> AttemptProgress:
        step = "passed" if data.overall_passed else "failed"
        return replace(attempt, step=step, verdicts=tuple(data.evaluations), score=data.score)

    return _with_attempt(state, event, judged)


@_apply.register
def _(event: EvaluationFailedEvent, state: WatchedRun) -> WatchedRun:
    trouble = one_line(event.data.reason)
    return _with_attempt(state, event, lambda attempt: replace(attempt, step="unjudged", trouble=trouble))


@_apply.register
def _(event: EscalationRequiredEvent, state: WatchedRun) -> WatchedRun:
    data = event.data
    question = OpenEscalation(data.escalation_id, event.phase or "", data.reason_kind, data.reason)
    asked = replace(state, status="waiting", reason=data.reason, escalation=question)
    return _with_phase(asked, event, lambda phase: replace(phase, status="waiting"))


@_apply.register
def _(event: EscalationResolvedEvent, state: WatchedRun) -> WatchedRun:
    allowed = event.data.max_attempts

    def go_on(phase: PhaseState) -> PhaseState:
        return replace(phase, status="active", max_attempts=allowed or phase.max_attempts)

    return _with_phase(replace(state, status="active", reason="", escalation=None), event, go_on)


def _end(state: WatchedRun, status: str, reason: str) -> WatchedRun:
    phases = tuple(
        replace(each, status=status) if each.status in ("active", "waiting") else each
        for each in state.phases
    )
    return replace(state, status=status, reason=reason, phases=phases, escalation=None)


def _with_phase(state: WatchedRun, event: Envelope, change: Callable[[PhaseState], PhaseState]) -> WatchedRun:
    if event.phase is None:
        return state
    phases = state.phases
    if state.phase(event.phase) is None:
        # The events may begin in the middle, after the event with the plan.
        phases = (*phases, PhaseState(event.phase, 0))
    return replace(state, phases=tuple(change(each) if each.name == event.phase else each for each in phases))


def _with_attempt(
    state: WatchedRun, event: Envelope, change: Callable[[AttemptProgress], AttemptProgress]
) -> WatchedRun:
    number = event.attempt
    if number is None:
        return state

    def changed(phase: PhaseState) -> PhaseState:
        attempts = phase.attempts
        if all(each.number != number for each in attempts):
            attempts = (*attempts, AttemptProgress(number, "working", event.timestamp))
        return replace(
            phase, attempts=tuple(change(each) if each.number == number else each for each in attempts)
        )

    return _with_phase(state, event, changed)


def _active(attempt: AttemptProgress, lines: tuple[str, ...]) -> AttemptProgress:
    return replace(attempt, activity=(*attempt.activity, *lines)[-SHOWN_ACTIVITY:])
