"""Decides how often an attempt restarts under its number, and after which pause. Pure.

A restart follows a fault that uses up no attempt: its worker died, its agent failed, its model was
unavailable, or its evaluators reached no verdict.
"""

from datetime import datetime, timedelta

from app.runners.facts import AttemptFacts
from app.runners.waiting import FailuresInARow, waited_enough
from app.schemas.runs import AttemptState, EscalationReason, RunPolicy

MAX_BACKOFF_SECONDS = 300.0

WORKER_FAILED = "the worker failed: "
"""How the last error of an attempt begins if it is one of this service, and not of an agent or a model."""


def beyond_limit(last: AttemptFacts, now: datetime, policy: RunPolicy) -> tuple[EscalationReason, str] | None:
    """Return the reason to ask a person instead of trying an attempt again; None while a try is left."""
    if last.needs_human:
        return _whose_model(last)[0], last.error
    if waited_enough(FailuresInARow(last.unavailable_failures, last.unavailable_since), policy, now):
        reason, whose = _whose_model(last)
        times = f"{last.unavailable_failures} times in a row"
        return reason, f"{whose} was unavailable {times}; the last time: {last.error}"
    if last.agent_failures >= policy.max_agent_failures:
        text = f"The agent failed {last.agent_failures} times in a row; the last time: {last.error}"
        text += unchanged_words(last)
        return EscalationReason.AGENT_UNAVAILABLE, text
    if last.evaluation_failures >= policy.max_evaluation_failures:
        text = (
            f"The evaluators reached no verdict {last.evaluation_failures} times; the last time: {last.error}"
        )
        return EscalationReason.EVALUATOR_UNAVAILABLE, text
    lost = lost_workers(last)
    if lost >= policy.max_lost_workers:
        return EscalationReason.WORKER_LOST, _lost_words(last, lost)
    return None


def _lost_words(last: AttemptFacts, lost: int) -> str:
    if last.error.startswith(WORKER_FAILED):
        return f"Work on attempt {last.number} broke off {lost} times; the last time {last.error}"
    return f"{lost} workers died while working on attempt {last.number}"


def unchanged_words(last: AttemptFacts) -> str:
    """Return a closing sentence that says the last attempt changed no file; empty if that does not apply."""
    return ". No file was changed" if last.changed_nothing else ""


def _whose_model(last: AttemptFacts) -> tuple[EscalationReason, str]:
    """Return whether the agent or its evaluators lack their model.

    Only the evaluators work on an attempt that has an output.
    """
    if last.state in (AttemptState.PRODUCED, AttemptState.EVALUATING):
        return EscalationReason.EVALUATOR_UNAVAILABLE, "The evaluators' model"
    return EscalationReason.AGENT_UNAVAILABLE, "The model"


def lost_workers(attempt: AttemptFacts) -> int:
    """Return how many workers died on an attempt: those recorded, and the one that left it half done.

    `decide` runs only while no worker holds the attempt, so a half-done attempt has lost its worker.
    """
    return attempt.lost_workers + (attempt.state in (AttemptState.STARTED, AttemptState.EVALUATING))


def backoff_seconds(failures: int, policy: RunPolicy) -> float:
    """Return the pause in seconds before try number `failures + 1`. It doubles, up to five minutes."""
    return min(MAX_BACKOFF_SECONDS, policy.retry_base_seconds * 2 ** (failures - 1))


def rest_until(failures: int, policy: RunPolicy, now: datetime) -> datetime:
    """Return the time until which an attempt rests after its failure number `failures`."""
    return now + timedelta(seconds=backoff_seconds(failures, policy))
