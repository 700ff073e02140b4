"""Records the effects of decisions on a run; each function is part of a caller's fenced transaction."""

from datetime import UTC, datetime
from uuid import uuid4

from sqlalchemy import func, select

from app.core.events.escalations import EscalationRequiredData
from app.core.events.phases import (
    PhaseCompletedData,
    PhaseFailedData,
    PhaseStartedData,
)
from app.core.events.runs import (
    WorkflowCompletedData,
    WorkflowFailedData,
    WorkflowStatusData,
)
from app.db.models import Attempt, Escalation, Run
from app.jobs.queue import enqueue_advance
from app.runners.decision import (
    CompletePhase,
    CompleteRun,
    Decision,
    Escalate,
    Evaluate,
    Fail,
    Finished,
    ReturnHistory,
    ReturnPartial,
    SpawnSubtask,
    StartAttempt,
    Wait,
)
from app.schemas.runs import (
    AttemptClosing,
    AttemptState,
    EscalationDecision,
    EscalationReason,
    RunKind,
    RunPolicy,
    RunStatus,
)
from app.services.execute.subtasks import spawn_subtask
from app.services.record.attempts import lay_down
from app.services.record.family import wake_parent
from app.services.record.ledger import run_usage
from app.services.record.messages import refuse_messages
from app.services.record.phase_outcomes import keep_outcomes
from app.services.record.transactions import Recording


async def record_decision(recording: Recording, decision: Decision, policy: RunPolicy) -> None:
    """Record a decision that takes no work to carry out."""
    match decision:
        case CompletePhase():
            await _complete_phase(recording, decision, policy)
        case Escalate():
            await _escalate(recording, decision)
        case SpawnSubtask(_, number):
            await spawn_subtask(recording, number)
        case Wait(until):
            await enqueue_advance(recording.session, recording.run.id, at=until)
        case CompleteRun() | ReturnHistory() | ReturnPartial() | Fail():
            await _end(recording, decision, policy)
            await wake_parent(recording.session, recording.run)
        case StartAttempt() | Evaluate() | Finished():
            raise AssertionError(f"{decision} is not recorded here")


async def _end(
    recording: Recording, decision: CompleteRun | ReturnHistory | ReturnPartial | Fail, policy: RunPolicy
) -> None:
    await refuse_messages(recording, "the run ended before an agent could be told")
    match decision:
        case CompleteRun():
            await _complete_run(recording, await _why_complete(recording))
        case ReturnPartial(phase, number, text):
            await _complete_phase(recording, CompletePhase(phase, number), policy)
            await _complete_run(recording, text)
        case ReturnHistory(_, _, text):
            # The loop did not reach its goal, even if its history is complete.
            _fail(recording, Fail(text))
        case Fail():
            _fail(recording, decision)
    await keep_outcomes(recording.session, recording.run.id)


async def _attempt(recording: Recording, phase: str, number: int) -> Attempt:
    statement = select(Attempt).where(
        Attempt.run_id == recording.run.id, Attempt.phase == phase, Attempt.number == number
    )
    return (await recording.session.execute(statement)).scalar_one()


async def _complete_phase(recording: Recording, decision: CompletePhase, policy: RunPolicy) -> None:
    run = recording.run
    attempt = await _attempt(recording, decision.phase, decision.number)
    run.head_commit = attempt.head_commit or run.head_commit
    position = run.phases.index(decision.phase)
    following = run.phases[position + 1] if position + 1 < len(run.phases) else None
    run.phase = following
    run.version += 1
    data = PhaseCompletedData(
        attempts=decision.number, commit=attempt.head_commit, accepted_by=decision.accepted_by
    )
    recording.tell(data, decision.phase, decision.number)
    if following is not None:
        recording.tell(PhaseStartedData(max_attempts=policy.attempts_per_phase), following)


async def _why_complete(recording: Recording) -> str:
    """Return the reason for completion, in words for people."""
    run = recording.run
    accepted = await recording.session.scalars(
        select(Escalation.decided_by)
        .where(Escalation.run_id == run.id, Escalation.decision == EscalationDecision.ACCEPT)
        .order_by(Escalation.decided_at)
    )
    by = ", ".join(dict.fromkeys(each or "" for each in accepted))
    match run.kind:
        case RunKind.SPRINT:
            return f"every phase passed or was accepted by {by}" if by else "every phase passed"
        case _ if by:
            return f"{by} accepted it as it is"
        case RunKind.ANSWER:
            return "the answer is sufficient in all four dimensions"
        case _:
            last = select(Attempt.closing).where(Attempt.run_id == run.id).order_by(Attempt.number.desc())
            met = await recording.session.scalar(last.limit(1)) == AttemptClosing.CONDITION
            return "the condition to stop is met" if met else "the evaluator is satisfied"


async def _complete_run(recording: Recording, reason: str) -> None:
    run = recording.run
    _finish(run, RunStatus.COMPLETED, reason)
    attempts = await recording.session.scalar(
        select(func.count()).select_from(Attempt).where(Attempt.run_id == run.id)
    )
    data = WorkflowCompletedData(
        commit=run.head_commit, attempts=attempts or 0, usage=run_usage(run), reason=reason
    )
    recording.tell(data)


async def _escalate(recording: Recording, decision: Escalate) -> None:
    run = recording.run
    if decision.reason is EscalationReason.WORKER_LOST:
        await _count_lost_worker(recording, decision)
    escalation = Escalation(
        id=uuid4(),
        run_id=run.id,
        phase=decision.phase,
        attempt=decision.number,
        reason_kind=decision.reason.value,
        reason=decision.text,
    )
    recording.session.add(escalation)
    run.status = RunStatus.WAITING
    run.status_reason = decision.text
    run.version += 1
    data = EscalationRequiredData(
        escalation_id=escalation.id, reason_kind=decision.reason.value, reason=decision.text
    )
    recording.tell(data, decision.phase, decision.number or None)
    waiting = WorkflowStatusData(status=RunStatus.WAITING, reason=decision.text)
    recording.tell(waiting, decision.phase, decision.number or None)


async def _count_lost_worker(recording: Recording, decision: Escalate) -> None:
    """Count the worker that died on the attempt; without a new claim, no other code counts it."""
    attempt = await _attempt(recording, decision.phase, decision.number)
    if attempt.status in (AttemptState.STARTED, AttemptState.EVALUATING):
        attempt.lost_workers += 1
        lay_down(attempt)


def _fail(recording: Recording, decision: Fail) -> None:
    run = recording.run
    _finish(run, RunStatus.FAILED, decision.reason)
    recording.tell(PhaseFailedData(reason=decision.reason), run.phase)
    recording.tell(WorkflowFailedData(reason=decision.reason, by=decision.by), run.phase)


def _finish(run: Run, status: RunStatus, reason: str) -> None:
    run.status = status
    run.status_reason = reason
    run.finished_at = datetime.now(UTC)
    run.version += 1
