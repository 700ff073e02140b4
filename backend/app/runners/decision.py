"""Decides the next step of a run: all rules, as pure functions of the recorded `facts`.

The rules, in the order in which they apply:

1. A finished run stays finished, a paused run rests, and an open escalation waits for a reviewer.
2. A reviewer's decision is carried out: *accept* completes the phase, *reject* fails the run, *retry* grants
   further attempts.
3. A phase without an attempt gets its first one. A phase with a passed attempt is complete. A run is complete
   when all its phases are.
4. Three faults use up no attempt. If its worker died, an attempt continues under the same number. If its
    agent
   failed, the same happens after a pause. If it already has an output, only the evaluation is repeated. Each
   fault has a limit, after which a person is asked. If a model is unavailable, the run waits: for minutes, or
   until the provider's limit ends.
5. An attempt can close its run or phase. If its stop condition is met, the phase is complete. If it cannot be
   carried out, the run fails. If its agent asks for a person, the run escalates. An attempt that leaves only
       a
   question about changed tests escalates at once and uses up no attempt: a reviewer who continues the phase
   grants another one.
6. An attempt that asked for a subtask rests until the subtask has ended. Then it continues under the same
   number.
7. No agent starts while a budget of the run or of the day is spent; a person is asked.
8. A failed attempt is followed by the next one, unless the agent is stuck or the budget is spent; then a
   person is asked. When the attempts are used up, a person is asked too, or the run returns what it has: its
   history, or a partial answer. Only this last step differs between the kinds of runs.
"""

from dataclasses import dataclass
from datetime import datetime

from app.runners.budgets import spent_run
from app.runners.facts import AttemptFacts, EscalationFacts, History
from app.runners.retry_limits import beyond_limit, unchanged_words
from app.runners.stuck import is_stuck
from app.schemas.runs import (
    AttemptClosing,
    AttemptState,
    EscalationDecision,
    EscalationReason,
    RunPolicy,
    SubtaskState,
    WhenExhausted,
)


@dataclass(frozen=True, slots=True)
class StartAttempt:
    """Start the agent. A number that is already recorded continues that attempt under a new claim."""

    phase: str
    number: int


@dataclass(frozen=True, slots=True)
class Evaluate:
    """Judge the recorded output. The agent does not run again."""

    phase: str
    number: int


@dataclass(frozen=True, slots=True)
class SpawnSubtask:
    """Start the subtask that the attempt requested, as a separate run."""

    phase: str
    number: int


@dataclass(frozen=True, slots=True)
class CompletePhase:
    """Complete the phase. `accepted_by` names the reviewer who accepted it against the gates."""

    phase: str
    number: int
    accepted_by: str | None = None


@dataclass(frozen=True, slots=True)
class CompleteRun:
    """Complete the run, because all its phases are complete."""


@dataclass(frozen=True, slots=True)
class ReturnHistory:
    """End the run and return its whole history, because its attempts are used up without a success."""

    phase: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class ReturnPartial:
    """Return the best attempt with a list of what it lacks, because the attempts are used up."""

    phase: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Escalate:
    """Ask a person."""

    phase: str
    number: int
    reason: EscalationReason
    text: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Do nothing for now: a person is asked, the run is paused, a subtask is running, or the agent rests.

    `until` is set only if the agent rests.
    """

    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """Fail the run."""

    reason: str
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The run is already over, so this call has nothing to do."""


Decision = (
    StartAttempt
    | Evaluate
    | SpawnSubtask
    | CompletePhase
    | CompleteRun
    | ReturnHistory
    | ReturnPartial
    | Escalate
    | Wait
    | Fail
    | Finished
)


def decide(history: History, policy: RunPolicy) -> Decision:
    """Return the next step of a run."""
    if history.status.is_final:
        return Finished()
    if history.paused:
        return Wait()
    if history.phase is None:
        return CompleteRun()
    asked = _asked_of_human(history, history.phase)
    if asked is not None:
        return asked
    if not history.attempts:
        return _start(history, policy, 1)
    return _after(history.attempts[-1], history, policy)


def _asked_of_human(history: History, phase: str) -> Decision | None:
    last_word = history.escalations[-1] if history.escalations else None
    if last_word is None:
        return None
    match last_word.decision:
        case None:
            return Wait()
        case EscalationDecision.ACCEPT:
            return CompletePhase(phase, last_word.attempt, accepted_by=last_word.decided_by)
        case EscalationDecision.REJECT:
            return Fail(f"{phase} was rejected", by=last_word.decided_by)
        case EscalationDecision.RETRY:
            return None


def attempts_allowed(escalations: tuple[EscalationFacts, ...], policy: RunPolicy) -> int:
    """Return how many attempts a phase may use: the policy's number plus those that people granted."""
    return policy.attempts_per_phase + sum(each.additional_attempts for each in escalations)


def _after(last: AttemptFacts, history: History, policy: RunPolicy) -> Decision:
    phase = history.phase
    assert phase is not None  # noqa: S101 - decide() has asked
    if last.state is AttemptState.PASSED or last.closing is AttemptClosing.CONDITION:
        return CompletePhase(phase, last.number)
    if last.closing is AttemptClosing.ERROR:
        return Fail(last.error)
    if last.state is AttemptState.FAILED:
        return _after_failure(last, history, policy)
    if last.state is AttemptState.DELEGATED:
        return _delegated(phase, last)
    trouble = _spent_meanwhile(last, history, policy) or beyond_limit(last, history.now, policy)
    if trouble is not None:
        return Escalate(phase, last.number, *trouble)
    if last.not_before is not None and last.not_before > history.now:
        return Wait(until=last.not_before)
    if last.state in (AttemptState.PRODUCED, AttemptState.EVALUATING):
        return Evaluate(phase, last.number)
    return _start(history, policy, last.number)


def _spent_meanwhile(
    last: AttemptFacts, history: History, policy: RunPolicy
) -> tuple[EscalationReason, str] | None:
    """Return the budget that ran out during the attempt and stopped its agent or judges, or None.

    In that case, waiting or trying again does not help.
    """
    if last.state is AttemptState.AGENT_FAILED or last.evaluation_failures:
        return _overspent(history, policy)
    return None


def _delegated(phase: str, last: AttemptFacts) -> Decision:
    match last.subtask:
        case SubtaskState.WANTED:
            return SpawnSubtask(phase, last.number)
        case SubtaskState.AT_WORK:
            return Wait()
        case _:
            # Ignore what the subtask used: the director has been promised its answer.
            return StartAttempt(phase, last.number)


def _after_failure(last: AttemptFacts, history: History, policy: RunPolicy) -> Decision:
    phase = history.phase
    assert phase is not None  # noqa: S101 - decide() has asked
    if last.closing is AttemptClosing.HUMAN and not _human_answered(history, EscalationReason.HUMAN_ASKED):
        return Escalate(phase, last.number, EscalationReason.HUMAN_ASKED, last.error)
    if last.question and not _human_answered(history, EscalationReason.QUESTION):
        return Escalate(phase, last.number, EscalationReason.QUESTION, last.question)
    allowed = attempts_allowed(history.escalations, policy)
    if last.number >= allowed:
        return _exhausted(phase, last, allowed, policy)
    if is_stuck(history) and not _human_answered(history, *_ABOUT_FAILED_ATTEMPTS):
        text = f"Attempt {last.number} failed exactly as attempt {last.number - 1} did and changed nothing"
        return Escalate(phase, last.number, EscalationReason.NO_PROGRESS, text)
    return _start(history, policy, last.number + 1)


def _exhausted(phase: str, last: AttemptFacts, allowed: int, policy: RunPolicy) -> Decision:
    number = last.number
    text = f"{number} of {allowed} attempts failed"
    match policy.when_exhausted:
        case WhenExhausted.ESCALATE:
            return Escalate(phase, number, EscalationReason.ATTEMPTS_EXHAUSTED, text + unchanged_words(last))
        case WhenExhausted.RETURN_HISTORY:
            return ReturnHistory(phase, number, f"{number} of {allowed} iterations had no success")
        case WhenExhausted.RETURN_PARTIAL:
            return ReturnPartial(
                phase, number, f"no attempt of {number} was sufficient in all four dimensions"
            )


_ABOUT_FAILED_ATTEMPTS = (
    EscalationReason.ATTEMPTS_EXHAUSTED,
    EscalationReason.NO_PROGRESS,
    EscalationReason.HUMAN_ASKED,
    EscalationReason.QUESTION,
)
"""Reasons that exist only once an attempt has failed; the person then knows how it failed."""


def _human_answered(history: History, *reasons: EscalationReason) -> bool:
    """Return whether a person was asked about the last attempt for one of these reasons.

    If the rules got this far, the decision was *retry*. Other questions about the same attempt do not count:
    they may have been asked before it had a result, for example because its model was unavailable.
    """
    number = history.attempts[-1].number
    return any(each.attempt == number and each.reason in reasons for each in history.escalations)


def _start(history: History, policy: RunPolicy, number: int) -> Decision:
    phase = history.phase
    assert phase is not None  # noqa: S101 - decide() has asked
    overspent = _overspent(history, policy)
    if overspent is not None:
        # The escalation belongs to the last attempt; 0 stands for a phase that could not begin.
        recorded = history.attempts[-1].number if history.attempts else 0
        return Escalate(phase, recorded, *overspent)
    return StartAttempt(phase, number)


def _overspent(history: History, policy: RunPolicy) -> tuple[EscalationReason, str] | None:
    # No model replies to a subtask while a loop above it is over its budget, either.
    own = spent_run(history.spent, policy.budget) or history.spent.over_above
    if own:
        return EscalationReason.BUDGET_EXHAUSTED, own
    if history.spent.over_day:
        return EscalationReason.DAY_BUDGET_EXHAUSTED, history.spent.over_day
    return None
