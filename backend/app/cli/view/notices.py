"""What to say about an event, as values: the same words for a live terminal, a pipe and the log."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import singledispatch

from app.cli.view.state import WatchedRun
from app.cli.view.text import first_lines, harmless, one_line
from app.cli.view.words import KIND_WORDS, SCRIPT_WARNING, duration
from app.core.events.agents import (
    AgentFailedEvent,
    AgentMessageEvent,
    AgentProgressEvent,
    ToolCalledEvent,
    ToolResultEvent,
)
from app.core.events.attempts import AttemptInterruptedEvent, AttemptProducedEvent, AttemptStartedEvent
from app.core.events.candidates import CandidateFailedEvent, JudgeDecidedEvent
from app.core.events.envelope import Envelope
from app.core.events.escalations import (
    EscalationReminderEvent,
    EscalationRequiredEvent,
    EscalationResolvedEvent,
)
from app.core.events.evaluations import (
    EvaluationCompletedEvent,
    EvaluationData,
    EvaluationFailedEvent,
    EvaluationStartedEvent,
    EvaluatorCompletedEvent,
    OptimizationStartedEvent,
)
from app.core.events.held_out import HeldOutCheckedEvent
from app.core.events.iterations import (
    IterationCompletedEvent,
    IterationDirectedEvent,
    IterationFailedEvent,
    IterationScriptedEvent,
    SubtaskCompletedEvent,
    SubtaskStartedEvent,
)
from app.core.events.phases import PhaseCompletedEvent, PhaseFailedEvent, PhaseStartedEvent
from app.core.events.runs import (
    RunCancelledEvent,
    RunCreatedEvent,
    RunPausedEvent,
    RunResumedEvent,
    WorkflowCompletedEvent,
    WorkflowFailedEvent,
)
from app.core.events.union import Event

EVIDENCE_LINES = 6
TOLD_LINES = 8


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to say.

    Attributes:
        state: the word whose icon and colour go with it (`view.words`).
        text: one harmless line.
        details: further harmless lines, shown indented.
        depth: 0 for the run, 1 for a phase, 2 for an attempt, 3 for what happens within one.
        is_chatter: True for what a live view shows in passing and only a log keeps.
    """

    state: str
    text: str
    details: tuple[str, ...] = ()
    depth: int = 2
    is_chatter: bool = False


def notices(event: Event, state: WatchedRun) -> tuple[Notice, ...]:
    """Say what `event` means; `state` is the one after it."""
    return tuple(_say(event, state))


@singledispatch
def _say(event: Envelope, state: WatchedRun) -> Iterable[Notice]:
    return ()


@_say.register
def _(event: RunCreatedEvent, state: WatchedRun) -> Iterable[Notice]:
    data = event.data
    details = (f"goal    {one_line(data.goal)}", f"source  {one_line(data.source)}")
    yield Notice("info", f"{_kind(state)} {event.run_id}  {one_line(data.name)}", details, depth=0)
    if data.scripted:
        yield Notice("warn", f"{SCRIPT_WARNING} ({one_line(data.agent)})", depth=0)
    else:
        yield Notice("info", f"agent   {one_line(data.agent)}", depth=0)
    if data.forked_from is not None:
        origin = data.forked_from
        place = f"{one_line(origin.phase)}/{origin.attempt} of sprint {origin.run_id}"
        yield Notice("info", f"begins with what {place} left", depth=0)


@_say.register
def _(event: RunCancelledEvent, state: WatchedRun) -> Iterable[Notice]:
    yield Notice(
        "cancelled",
        f"{_kind(state)} cancelled by {one_line(event.data.by)}{_because(event.data.reason)}",
        depth=0,
    )


@_say.register
def _(event: RunPausedEvent, state: WatchedRun) -> Iterable[Notice]:
    text = f"{_kind(state)} paused by {one_line(event.data.by)}{_because(event.data.reason)}"
    yield Notice("paused", text, depth=0)


@_say.register
def _(event: AgentMessageEvent, state: WatchedRun) -> Iterable[Notice]:
    data = event.data
    words = f"{one_line(data.by)} says ({data.status}): {one_line(data.text, 300)}{_because(data.reason)}"
    yield Notice("info", words, depth=2)


@_say.register
def _(event: RunResumedEvent, state: WatchedRun) -> Iterable[Notice]:
    yield Notice("active", f"{_kind(state)} resumed by {one_line(event.data.by)}", depth=0)


@_say.register
def _(event: WorkflowCompletedEvent, state: WatchedRun) -> Iterable[Notice]:
    attempts = event.data.attempts
    tries = f"{attempts} {_try(state)}{'' if attempts == 1 else 's'}"
    if _is_sprint(state):
        commit = (event.data.commit or "none")[:12]
        yield Notice("passed", f"{_kind(state)} passed after {tries}, commit {commit}", depth=0)
        return
    text = f"{_kind(state)} is complete after {tries}{_because(event.data.reason)}"
    yield Notice("completed", text, depth=0)


@_say.register
def _(event: WorkflowFailedEvent, state: WatchedRun) -> Iterable[Notice]:
    by = f" by {one_line(event.data.by)}" if event.data.by else ""
    yield Notice("failed", f"{_kind(state)} failed{by}{_because(event.data.reason)}", depth=0)


@_say.register
def _(event: PhaseStartedEvent, state: WatchedRun) -> Iterable[Notice]:
    if _is_sprint(state):
        yield Notice("active", f"Phase {event.phase}", depth=1)


@_say.register
def _(event: PhaseCompletedEvent, state: WatchedRun) -> Iterable[Notice]:
    place = _place(event, state)
    if event.data.accepted_by:
        yield Notice("accepted", f"{place} accepted by {one_line(event.data.accepted_by)}", depth=1)
    elif _is_sprint(state):
        yield Notice("passed", f"{place} passed in attempt {event.data.attempts}", depth=1)
    else:
        yield Notice("completed", f"{place} ends with {_try(state)} {event.data.attempts}", depth=1)


@_say.register
def _(event: PhaseFailedEvent, state: WatchedRun) -> Iterable[Notice]:
    yield Notice("failed", f"{_place(event, state)} failed{_because(event.data.reason)}", depth=1)


@_say.register
def _(event: AttemptStartedEvent, state: WatchedRun) -> Iterable[Notice]:
    phase = state.phase(event.phase)
    of = f" of {phase.max_attempts}" if phase and phase.max_attempts else ""
    again = ", taken over" if event.data.resumed else ""
    who = "director" if state.kind == "director_loop" else "agent"
    yield Notice("started", f"{_try(state).capitalize()} {event.attempt}{of}{again}: the {who} works")


@_say.register
def _(event: AttemptProducedEvent, state: WatchedRun) -> Iterable[Notice]:
    if not _is_sprint(state):
        return  # What a director or a synthesizer leaves is a text.
    files = event.data.changed_files
    changed = f"{len(files)} file{'' if len(files) == 1 else 's'} changed" if files else "nothing changed"
    details = [one_line(", ".join(files[:8]) + (f" and {len(files) - 8} more" if len(files) > 8 else ""))]
    details += [f"dropped: {one_line(each)}" for each in event.data.dropped[:5]]
    yield Notice(
        "produced", f"The agent is done: {changed}", tuple(each for each in details if each), depth=3
    )


@_say.register
def _(event: AttemptInterruptedEvent, state: WatchedRun) -> Iterable[Notice]:
    yield Notice(
        "errored", f"{_try(state).capitalize()} {event.attempt} was interrupted{_because(event.data.reason)}"
    )


@_say.register
def _(event: AgentFailedEvent, state: WatchedRun) -> Iterable[Notice]:
    text = f"The agent failed ({event.data.kind}){_again(event.data.retry_in_seconds)}"
    yield Notice("errored", text, first_lines(event.data.message, EVIDENCE_LINES), depth=3)


@_say.register
def _(event: AgentProgressEvent, state: WatchedRun) -> Iterable[Notice]:
    for line in event.data.lines:
        head, *rest = harmless(line.text).splitlines() or [""]
        yield Notice("info", head, tuple(rest), depth=3, is_chatter=True)


@_say.register
def _(event: ToolCalledEvent, state: WatchedRun) -> Iterable[Notice]:
    yield Notice("active", one_line(f"{event.data.tool} {event.data.text}"), depth=3, is_chatter=True)


@_say.register
def _(event: ToolResultEvent, state: WatchedRun) -> Iterable[Notice]:
    lines = first_lines(event.data.text, EVIDENCE_LINES) or ("(nothing)",)
    yield Notice("info", f"{one_line(event.data.tool)} gave", lines, depth=3, is_chatter=True)


@_say.register
def _(event: CandidateFailedEvent, state: WatchedRun) -> Iterable[Notice]:
    data = event.data
    text = f"Candidate {data.candidate + 1} ({one_line(data.agent)}) failed{_because(data.error or '')}"
    yield Notice("errored", text, depth=3)


@_say.register
def _(event: JudgeDecidedEvent, state: WatchedRun) -> Iterable[Notice]:
    text = f"Candidate {event.data.candidate + 1} was chosen"
    yield Notice("info", text, first_lines(event.data.rationale, EVIDENCE_LINES), depth=3)


@_say.register
def _(event: EvaluationStartedEvent, state: WatchedRun) -> Iterable[Notice]:
    names = one_line(", ".join(event.data.evaluators))
    yield Notice("evaluating", f"Evaluating: {names}", depth=3, is_chatter=True)


@_say.register
def _(event: EvaluatorCompletedEvent, state: WatchedRun) -> Iterable[Notice]:
    yield _verdict(event.data)


@_say.register
def _(event: EvaluationCompletedEvent, state: WatchedRun) -> Iterable[Notice]:
    data = event.data
    word = "passed" if data.overall_passed else "failed"
    score = f", score {data.score:.2f}" if data.score is not None else ""
    yield Notice(word, f"{_try(state).capitalize()} {event.attempt} {word}{score}{_because(data.reason)}")


@_say.register
def _(event: EvaluationFailedEvent, state: WatchedRun) -> Iterable[Notice]:
    text = f"{_try(state).capitalize()} {event.attempt} is not judged{_again(event.data.retry_in_seconds)}"
    yield Notice("errored", text, first_lines(event.data.reason, EVIDENCE_LINES))


@_say.register
def _(event: HeldOutCheckedEvent, state: WatchedRun) -> Iterable[Notice]:
    word = "warn" if event.data.passing or not event.data.total else "info"
    yield Notice(word, event.data.message)


@_say.register
def _(event: OptimizationStartedEvent, state: WatchedRun) -> Iterable[Notice]:
    told = [f"- {one_line(each)}" for each in event.data.issues]
    told += [f"reviewer: {one_line(each)}" for each in event.data.guidance]
    shown = tuple(told[:TOLD_LINES])
    if len(told) > TOLD_LINES:
        shown = (*shown, f"… {len(told) - TOLD_LINES} more")
    yield Notice("retry", f"What attempt {event.data.next_attempt} is told", shown)


@_say.register
def _(event: IterationDirectedEvent, state: WatchedRun) -> Iterable[Notice]:
    words = "asks for a human" if event.data.status == "WAITING" else "proposes"
    details = first_lines(event.data.output, EVIDENCE_LINES)
    yield Notice("produced", f"The director {words}", details, depth=3)


@_say.register
def _(event: IterationScriptedEvent, state: WatchedRun) -> Iterable[Notice]:
    code = event.data.exit_code
    details = first_lines(event.data.stderr or event.data.stdout, EVIDENCE_LINES) if code else ()
    yield Notice("failed" if code else "passed", f"The script ended with {code}", details, depth=3)


@_say.register
def _(event: IterationCompletedEvent, state: WatchedRun) -> Iterable[Notice]:
    if event.data.condition_trouble:
        text = f"The condition to stop could not be asked: {one_line(event.data.condition_trouble)}"
        yield Notice("warn", text, depth=3)
    elif event.data.condition_met:
        yield Notice("info", "The condition to stop is met", depth=3)


@_say.register
def _(event: IterationFailedEvent, state: WatchedRun) -> Iterable[Notice]:
    text = f"Iteration {event.data.iteration} could not be carried out ({one_line(event.data.reason)})"
    yield Notice("errored", text, first_lines(event.data.message, EVIDENCE_LINES), depth=3)


@_say.register
def _(event: SubtaskStartedEvent, state: WatchedRun) -> Iterable[Notice]:
    details = first_lines(event.data.description, EVIDENCE_LINES)
    yield Notice("started", f"The director asks for a subtask: {event.data.subtask_run_id}", details, depth=3)


@_say.register
def _(event: SubtaskCompletedEvent, state: WatchedRun) -> Iterable[Notice]:
    look, words = {
        None: ("errored", "gave no result"),
        True: ("passed", "is done"),
        False: ("failed", "ended without success"),
    }[event.data.success]
    yield Notice(look, f"The subtask {words}", first_lines(event.data.output, EVIDENCE_LINES), depth=3)


@_say.register
def _(event: EscalationRequiredEvent, state: WatchedRun) -> Iterable[Notice]:
    yield Notice("waiting", f"{_place(event, state)} waits for a human{_because(event.data.reason)}", depth=1)


@_say.register
def _(event: EscalationReminderEvent, state: WatchedRun) -> Iterable[Notice]:
    waited = duration(event.data.waiting_seconds)
    text = f"{_place(event, state)} still waits for a human, for {waited}{_because(event.data.reason)}"
    yield Notice("waiting", text, depth=1)


@_say.register
def _(event: EscalationResolvedEvent, state: WatchedRun) -> Iterable[Notice]:
    data = event.data
    more = data.additional_attempts
    extra = f", {more} more {_try(state)}{'' if more == 1 else 's'}" if more else ""
    text = f"{one_line(data.decided_by)} decided: {data.decision}{extra}"
    yield Notice("resolved", text, first_lines(data.guidance, EVIDENCE_LINES), depth=1)


def _verdict(data: EvaluationData) -> Notice:
    state = data.status or ("passed" if data.passed else "failed")
    marks = ["gate" if data.gate else "advisory"] if data.gate is not None else []
    if state in ("passed", "failed"):
        marks.append(f"{data.score:.2f}")
    if data.duration_ms is not None:
        marks.append(duration(data.duration_ms / 1000))
    text = f"{one_line(data.evaluator_name)} {state}" + (f" ({', '.join(marks)})" if marks else "")
    return Notice(state, text, _evidence(data) if state != "passed" else (), depth=3)


def _evidence(data: EvaluationData) -> tuple[str, ...]:
    feedback = first_lines(data.feedback, EVIDENCE_LINES)
    if len(feedback) > 1:
        return feedback  # it goes into detail itself
    return (*feedback, *(f"- {one_line(each)}" for each in data.suggestions[: EVIDENCE_LINES - 1]))


def _kind(state: WatchedRun) -> str:
    return KIND_WORDS.get(state.kind, "Run")


def _because(reason: str) -> str:
    return f": {one_line(reason)}" if reason.strip() else ""


def _again(seconds: float | None) -> str:
    return f"; tried again in {duration(seconds)}" if seconds is not None else ""


def _is_sprint(state: WatchedRun) -> bool:
    return state.kind == "sprint"


def _try(state: WatchedRun) -> str:
    return "iteration" if state.kind == "director_loop" else "attempt"


def _place(event: Envelope, state: WatchedRun) -> str:
    """Where a run stands: loops and answers have one phase, which is all of them."""
    return f"Phase {event.phase}" if _is_sprint(state) else _kind(state)
