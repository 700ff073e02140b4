"""The rows and events of an attempt's beginning and end; each function is part of a caller's transaction."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from uuid import UUID, uuid4

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.agents.judge import Choice
from app.agents.port import AgentOutcome
from app.core.event_data import (
    AttemptInterruptedData,
    JudgeDecidedData,
    OptimizationStartedData,
    PhaseStartedData,
    WorkflowStartedData,
)
from app.core.telemetry import current_trace_id
from app.core.websocket_events import (
    AttemptInterruptedEvent,
    OptimizationStartedEvent,
    PhaseStartedEvent,
    WorkflowStartedEvent,
)
from app.db.models import Attempt, Candidate, Run, Snapshot
from app.runners.evaluators.feedback_memory import FeedbackMemory
from app.schemas.runs import AttemptState, RetryFrom, RunStatus, Usage
from app.services.candidates import ProducedCandidate
from app.services.history import Recorded
from app.services.recording import Recording


def start_commit(recorded: Recorded, number: int) -> str:
    """The commit an attempt starts from: that of the attempt before, or what the phase started with."""
    before = next((each for each in recorded.attempts if each.number == number - 1), None)
    if before is None or before.head_commit is None or recorded.policy.retry_from is RetryFrom.BASE:
        return recorded.run.head_commit
    return before.head_commit


def begin_run(recording: Recording, recorded: Recorded) -> None:
    """Make the run active; the first time, tell that it and its phase started."""
    run = recording.run
    if run.status == RunStatus.ACTIVE:
        return
    if run.started_at is None:
        run.started_at = datetime.now(UTC)
        started = WorkflowStartedData(phases=run.phases)
        recording.emit(WorkflowStartedEvent(**dict(recording.envelope()), data=started))
        phase = PhaseStartedData(max_attempts=recorded.policy.max_attempts)
        recording.emit(PhaseStartedEvent(**dict(recording.envelope(run.phase)), data=phase))
    run.status = RunStatus.ACTIVE
    run.status_reason = ""
    run.version += 1


def new_attempt(
    recorded: Recorded, number: int, claim: UUID, memory: FeedbackMemory, prompt: str, start: str
) -> Attempt:
    """The row of an attempt that starts now."""
    return Attempt(
        id=uuid4(),
        run_id=recorded.run.id,
        phase=recorded.run.phase,
        number=number,
        claim=claim,
        status=AttemptState.STARTED,
        prompt=prompt,
        optimization_context=memory.get_optimization_context(),
        base_commit=start,
        trace_id=current_trace_id(),
        started_at=datetime.now(UTC),
    )


def reclaim(recording: Recording, attempt: Attempt, claim: UUID, prompt: str) -> None:
    """Take a recorded attempt again under a new claim; whoever held the old one has lost it."""
    if attempt.status == AttemptState.STARTED:
        attempt.lost_workers += 1
        data = AttemptInterruptedData(
            reason="the worker was lost; the attempt is taken again", lost_workers=attempt.lost_workers
        )
        at = dict(recording.envelope(attempt.phase, attempt.number))
        recording.emit(AttemptInterruptedEvent(**at, data=data))
    attempt.claim = claim
    attempt.status = AttemptState.STARTED
    attempt.prompt = prompt
    attempt.not_before = None
    attempt.trace_id = current_trace_id()
    attempt.started_at = datetime.now(UTC)


async def release_attempts(recording: Recording, reason: str) -> None:
    """Leave what is half done to whoever comes next; the interruption is no fault of the attempt."""
    working = [AttemptState.STARTED, AttemptState.EVALUATING]
    statement = select(Attempt).where(Attempt.run_id == recording.run.id, Attempt.status.in_(working))
    for attempt in await recording.session.scalars(statement):
        lay_down(attempt)
        data = AttemptInterruptedData(reason=reason, lost_workers=attempt.lost_workers)
        at = dict(recording.envelope(attempt.phase, attempt.number))
        recording.emit(AttemptInterruptedEvent(**at, data=data))


def lay_down(attempt: Attempt) -> None:
    """Say of a half-done attempt that nobody works on it: it waits for its agent, or for its verdict."""
    is_judged = attempt.status == AttemptState.EVALUATING
    attempt.status = AttemptState.PRODUCED if is_judged else AttemptState.AGENT_FAILED


def tell_optimization(recording: Recording, number: int, memory: FeedbackMemory) -> None:
    """Tell what the next attempt is told, if there was one before."""
    last = memory.latest_attempt
    if last is None:
        return
    data = OptimizationStartedData(next_attempt=number, issues=last.issues_to_fix(), guidance=memory.guidance)
    at = dict(recording.envelope(memory.phase, number))
    recording.emit(OptimizationStartedEvent(**at, data=data))


async def store_candidates(
    recording: Recording, attempt: Attempt, produced: Sequence[ProducedCandidate]
) -> None:
    """Store what each candidate produced, and the bundle of each commit."""
    session = recording.session
    for index, each in enumerate(produced):
        committed = each.committed
        session.add(
            Candidate(
                attempt_id=attempt.id,
                index=index,
                agent=each.ended.agent,
                provider=each.ended.provider,
                model=each.ended.model,
                output=each.ended.output,
                error=each.ended.error,
                metrics={**asdict(each.outcome.usage), "seconds": each.ended.seconds},
                head_commit=committed.commit if committed else None,
                tree=committed.tree if committed else None,
                changed_files=committed.changed_files if committed else [],
            )
        )
        if committed:
            snapshot = insert(Snapshot).values(
                run_id=attempt.run_id, commit=committed.commit, kind="attempt", bundle=committed.bundle
            )
            await session.execute(snapshot.on_conflict_do_nothing())


def total_usage(outcomes: Sequence[AgentOutcome | Choice]) -> Usage:
    """What agents consumed together."""
    return Usage.total(Usage.model_validate(asdict(each.usage)) for each in outcomes)


def judge_decided(choice: Choice) -> JudgeDecidedData:
    """What is told of a choice."""
    return JudgeDecidedData(
        candidate=choice.index,
        score=choice.score,
        rationale=choice.rationale,
        model=choice.model,
        order=list(choice.order),
        seed=choice.seed,
    )


def spend(run: Run, usage: Usage) -> None:
    """Enter a consumption into the run's ledger."""
    run.used_requests += usage.requests
    run.used_tool_calls += usage.tool_calls
    run.used_input_tokens += usage.input_tokens
    run.used_output_tokens += usage.output_tokens
    if usage.cost_usd is not None:
        run.used_cost_usd = (run.used_cost_usd or 0.0) + usage.cost_usd
