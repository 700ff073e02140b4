"""Lets a run rest until its model is available: as a row and a later job, without occupying a worker."""

from dataclasses import dataclass
from datetime import UTC, datetime

from app.agents.port import FailureKind
from app.core.events.agents import AgentFailedData
from app.core.events.runs import WorkflowStatusData
from app.db.models import Attempt
from app.jobs.queue import enqueue_advance
from app.runners.waiting import FailuresInARow, Rest, rest_after, waits_words
from app.schemas.runs import AttemptState, RunPolicy, RunStatus
from app.schemas.text import storable_text
from app.services.record.transactions import Recording

THE_MODEL = "the model"
"""The words for the model that a run waits for, if no role is named."""


async def rest_for_model(
    recording: Recording,
    row: Attempt,
    policy: RunPolicy,
    reset_at: datetime | None,
    whose: str = THE_MODEL,
) -> Rest:
    """Record that a model was unavailable, and when the run continues.

    Args:
        recording: the transaction.
        row: the attempt; its `last_error` says what happened.
        policy: the run's policy.
        reset_at: when the provider's limit ends, according to the provider.
        whose: the model that the run waits for, in words for people.
    """
    now = datetime.now(UTC)
    rest = rest_after(FailuresInARow(row.unavailable_failures, row.unavailable_since), reset_at, policy, now)
    row.unavailable_failures, row.unavailable_since = rest.counted.failures, rest.counted.since
    row.provider_reset_at = rest.reset_at
    row.not_before = rest.until
    if rest.until is None:
        if rest.reset_at is not None:
            row.needs_human = True
            row.last_error = f"{row.last_error} {_too_long(rest.reset_at, policy)}"
        return rest
    await enqueue_advance(recording.session, recording.run.id, at=rest.until)
    words = waits_words(rest.reset_at, now) if rest.reset_at else _next_try(whose, rest.until)
    recording.run.status_reason = words
    recording.run.version += 1
    recording.tell(WorkflowStatusData(status=recording.run.status, reason=words), row.phase, row.number)
    return rest


@dataclass(frozen=True, slots=True)
class ModelTrouble:
    """Why a model was not asked or did not reply: trouble that is temporary or that a person can fix.

    Attributes:
        kind: `UNAVAILABLE` or `BUDGET`.
        message: the reason in words for people.
        retry_at: when the provider's limit ends, if the provider reports it.
        whose: the model in question, in words for people.
    """

    kind: FailureKind
    message: str
    retry_at: datetime | None = None
    whose: str = THE_MODEL

    @classmethod
    def of(
        cls, kind: FailureKind | None, message: str, retry_at: datetime | None, whose: str = THE_MODEL
    ) -> "ModelTrouble | None":
        """Return the trouble, or None for a failure of another kind."""
        if kind is None or kind not in (FailureKind.UNAVAILABLE, FailureKind.BUDGET):
            return None
        return cls(kind, message, retry_at, whose)


async def lay_down_for(recording: Recording, row: Attempt, trouble: ModelTrouble, policy: RunPolicy) -> None:
    """Release an attempt of a loop or an answer, so that it continues later from its present state.

    Nothing is used up. Decisions escalate a spent budget.
    """
    is_judged = row.status == AttemptState.EVALUATING
    row.status = AttemptState.PRODUCED if is_judged else AttemptState.AGENT_FAILED
    row.last_error = storable_text(trouble.message)
    pause: float | None = None
    if trouble.kind is FailureKind.UNAVAILABLE:
        rest = await rest_for_model(recording, row, policy, trouble.retry_at, trouble.whose)
        pause = max(0.0, (rest.until - datetime.now(UTC)).total_seconds()) if rest.until else None
    elif is_judged:
        row.evaluation_failures += 1
    data = AgentFailedData(
        kind=trouble.kind.value,
        message=row.last_error,
        failures=row.unavailable_failures,
        retry_in_seconds=pause,
        retry_at=row.provider_reset_at,
    )
    recording.tell(data, row.phase, row.number)


def end_wait(recording: Recording) -> None:
    """Record that a run that waited for its model continues."""
    run = recording.run
    if run.status == RunStatus.ACTIVE and run.status_reason:
        run.status_reason = ""
        run.version += 1
        recording.tell(WorkflowStatusData(status=run.status), run.phase)


def forget_failures(row: Attempt) -> None:
    """Reset the counters of unavailability, because a model replied or a person decided."""
    row.unavailable_failures = 0
    row.unavailable_since = None
    row.provider_reset_at = None


def rests(row: Attempt, now: datetime) -> bool:
    """Return whether an attempt rests until a later time."""
    return row.not_before is not None and row.not_before > now


def _too_long(reset_at: datetime, policy: RunPolicy) -> str:
    hours = policy.max_reset_wait_seconds / 3600
    return (
        f"The provider's limit ends at {reset_at:%Y-%m-%d %H:%M} UTC; "
        f"runs wait at most {hours:g} h (MODEL_RESET_WAIT_SECONDS)"
    )


def _next_try(whose: str, until: datetime) -> str:
    return f"waits for {whose}, which is unavailable; next try at {until:%H:%M:%S} UTC"
