"""Records the start and end of an attempt, as rows and events in the caller's transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select

from app.agents.models.judge import JudgeChoice
from app.agents.port import AgentOutcome
from app.core.events.attempts import (
    AttemptInterruptedData,
    AttemptStartedData,
)
from app.core.events.candidates import JudgeDecidedData
from app.core.events.evaluations import OptimizationStartedData
from app.core.events.phases import PhaseStartedData
from app.core.events.runs import WorkflowStartedData
from app.core.tracing import current_trace_id
from app.db.models import Attempt
from app.runners.evaluators.feedback_memory import FeedbackMemory
from app.schemas.runs import AttemptState, RetryFrom, RunStatus, Usage
from app.services.record.history import Recorded
from app.services.record.transactions import Recording
from app.services.record.waiting import end_wait


def start_commit(recorded: Recorded, number: int) -> str:
    """Return the commit that an attempt starts from: the previous attempt's, or the phase's first commit.

    A failed try may have left a commit; the next try of the same attempt starts from that one.
    """
    own = next((each for each in recorded.attempts if each.number == number), None)
    if own is not None and own.head_commit is not None:
        return own.head_commit
    before = next((each for each in recorded.attempts if each.number == number - 1), None)
    if before is None or before.head_commit is None or recorded.policy.retry_from is RetryFrom.BASE:
        return recorded.run.head_commit
    return before.head_commit


def begin_run(recording: Recording, recorded: Recorded) -> None:
    """Activate the run; the first time, record that the run and its phase started."""
    run = recording.run
    if run.status == RunStatus.ACTIVE:
        end_wait(recording)
        return
    if run.started_at is None:
        run.started_at = datetime.now(UTC)
        recording.tell(WorkflowStartedData(phases=run.phases))
        recording.tell(PhaseStartedData(max_attempts=recorded.policy.attempts_per_phase), run.phase)
    run.status = RunStatus.ACTIVE
    run.status_reason = ""
    run.version += 1


def new_attempt(
    recorded: Recorded,
    number: int,
    claim: UUID,
    prompt: str,
    start: str,
    context: Mapping[str, Any] = MappingProxyType({}),
) -> Attempt:
    """Return the row of an attempt that starts now from the commit `start`; `context` comes from memory."""
    return Attempt(
        id=uuid4(),
        run_id=recorded.run.id,
        phase=recorded.run.phase,
        number=number,
        claim=claim,
        status=AttemptState.STARTED,
        prompt=prompt,
        optimization_context=dict(context),
        base_commit=start,
        trace_id=current_trace_id(),
        started_at=datetime.now(UTC),
    )


async def claim_attempt(
    recording: Recording, recorded: Recorded, number: int, claim: UUID, prompt: str
) -> Attempt:
    """Claim an attempt of a run whose attempts leave no commits: a new one, or one without output."""
    begin_run(recording, recorded)
    known = next((each for each in recorded.attempts if each.number == number), None)
    base = recorded.run.base_commit
    if known is None:
        row = new_attempt(recorded, number, claim, prompt, base)
        recording.session.add(row)
    else:
        row = await recording.session.get_one(Attempt, known.id)
        reclaim(recording, row, claim, prompt)
    if known is None or known.status != AttemptState.DELEGATED:
        recording.tell(started_data(known, prompt, base), recorded.run.phase, number)
    return row


def started_data(known: Attempt | None, prompt: str, base: str) -> AttemptStartedData:
    """Return the data of an attempt's start event; `known` is the attempt before this start, if any."""
    return AttemptStartedData(
        prompt_chars=len(prompt),
        base_commit=base,
        resumed=known is not None,
        taken_over=known is not None and known.status == AttemptState.STARTED,
    )


def reclaim(recording: Recording, attempt: Attempt, claim: UUID, prompt: str) -> None:
    """Claim a recorded attempt again; the holder of the old claim loses it."""
    if attempt.status == AttemptState.STARTED:
        attempt.lost_workers += 1
        data = AttemptInterruptedData(
            reason="the worker was lost; the attempt restarts", lost_workers=attempt.lost_workers
        )
        recording.tell(data, attempt.phase, attempt.number)
    attempt.claim = claim
    attempt.status = AttemptState.STARTED
    attempt.prompt = prompt
    attempt.not_before = None
    attempt.trace_id = current_trace_id()
    attempt.started_at = datetime.now(UTC)


async def release_attempts(recording: Recording, reason: str) -> None:
    """Release the attempts in progress; the next worker resumes them, and no attempt is used up."""
    for attempt in await _in_progress(recording):
        lay_down(attempt)
        data = AttemptInterruptedData(reason=reason, lost_workers=attempt.lost_workers)
        recording.tell(data, attempt.phase, attempt.number)


async def note_failure(recording: Recording, error: str) -> None:
    """Record an error of this service on the attempts in progress. They count as those of a lost worker."""
    for attempt in await _in_progress(recording):
        attempt.last_error = error


async def _in_progress(recording: Recording) -> Sequence[Attempt]:
    working = [AttemptState.STARTED, AttemptState.EVALUATING]
    statement = select(Attempt).where(Attempt.run_id == recording.run.id, Attempt.status.in_(working))
    return (await recording.session.scalars(statement)).all()


def lay_down(attempt: Attempt) -> None:
    """Mark an attempt in progress as idle; it then waits for its agent again, or for its verdict."""
    is_judged = attempt.status == AttemptState.EVALUATING
    attempt.status = AttemptState.PRODUCED if is_judged else AttemptState.AGENT_FAILED


def tell_optimization(recording: Recording, number: int, memory: FeedbackMemory) -> None:
    """Record which issues and guidance go into the next attempt's prompt, unless it is the first attempt."""
    last = memory.latest_attempt
    if last is None:
        return
    data = OptimizationStartedData(next_attempt=number, issues=last.issues_to_fix(), guidance=memory.guidance)
    recording.tell(data, memory.phase, number)


def total_usage(outcomes: Sequence[AgentOutcome | JudgeChoice]) -> Usage:
    """Return what several agents consumed together."""
    return Usage.total(Usage.model_validate(asdict(each.usage)) for each in outcomes)


def judge_decided(choice: JudgeChoice) -> JudgeDecidedData:
    """Return the event data of a choice between candidates."""
    return JudgeDecidedData(
        candidate=choice.index,
        score=choice.score,
        rationale=choice.rationale,
        model=choice.model,
        order=list(choice.order),
        seed=choice.seed,
    )
