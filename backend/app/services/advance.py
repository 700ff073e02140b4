"""Moves a run on, one recorded decision after the other, until it rests. This is the body of every job."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import count
from uuid import UUID, uuid4

import logfire
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from app.core.event_data import (
    EscalationRequiredData,
    PhaseCompletedData,
    PhaseFailedData,
    PhaseStartedData,
    WorkflowCompletedData,
    WorkflowFailedData,
    WorkflowStatusData,
)
from app.core.telemetry import continued_trace
from app.core.websocket_events import (
    EscalationRequiredEvent,
    PhaseCompletedEvent,
    PhaseFailedEvent,
    PhaseStartedEvent,
    WorkflowCompletedEvent,
    WorkflowFailedEvent,
    WorkflowStatusEvent,
)
from app.db.engine import Sessions
from app.db.models import Attempt, Escalation, Run
from app.db.outages import patiently
from app.jobs.queue import enqueue_advance
from app.realtime.store import Fence
from app.runners.decision import (
    CompletePhase,
    CompleteRun,
    Decision,
    Escalate,
    Evaluate,
    Fail,
    Finished,
    History,
    StartAttempt,
    Wait,
)
from app.runners.refinement import refine
from app.schemas.runs import AttemptState, EscalationReason, RunPolicy, RunStatus, Usage
from app.services.attempt_rows import lay_down, release_attempts
from app.services.history import Recorded, load_run
from app.services.recording import FencedOutError, Recorder, Recording

logger = logging.getLogger(__name__)

HAND_OVER_SECONDS = 5.0
"""A worker that stops does not wait longer for the database; the next one finds out by itself."""

CarryOutAttempt = Callable[[Recorded, int, Fence], Awaitable[None]]
"""Produces or judges one attempt: takes the run as recorded, the attempt's number and the fence."""


class Advance:
    """Carries out the decisions of any run.

    Args:
        sessions: opens short sessions for reading.
        recorder: opens fenced transactions.
        produce: lets the agent work on an attempt.
        evaluate: has an attempt's output judged.
    """

    def __init__(
        self, sessions: Sessions, recorder: Recorder, produce: CarryOutAttempt, evaluate: CarryOutAttempt
    ) -> None:
        self._sessions = sessions
        self._recorder = recorder
        self._produce = produce
        self._evaluate = evaluate

    async def __call__(self, run_id: UUID, job_id: int, job_try: int) -> None:
        """Move the run on as the queue's job `job_id`, in its try number `job_try`."""
        fence = Fence(job_id, job_try)
        try:
            # The records say how far it came, so after an outage it simply goes on from them.
            await patiently(partial(self._advance, run_id, fence, count()))
        except FencedOutError as reason:
            logger.info("%s; its outcome here is dropped", reason)
        except asyncio.CancelledError:
            await asyncio.shield(self._hand_over(run_id, fence))
            raise

    async def _advance(self, run_id: UUID, fence: Fence, rounds: Iterator[int]) -> None:
        if not await self._recorder.take(run_id, fence):
            logger.info("job %s came too late for run %s", fence.job_id, run_id)
            return
        if next(rounds) > 0:
            # No worker was lost: what was half done is begun again without being counted.
            async with self._recorder.open(run_id, fence) as recording:
                await release_attempts(recording, "the database was away; the attempt goes on")
        step = _Step(self, run_id, fence)
        with (
            continued_trace(await self._traceparent(run_id)),
            logfire.span("run {run_id}", run_id=run_id),
        ):
            await refine(step.load, step.carry_out)

    async def _hand_over(self, run_id: UUID, fence: Fence) -> None:
        """Leave the attempt to whoever comes next; stopping a worker is no fault of the attempt."""
        try:
            async with (
                asyncio.timeout(HAND_OVER_SECONDS),
                self._recorder.open(run_id, fence) as recording,
            ):
                await release_attempts(recording, "the worker was stopped; the next one goes on")
        except FencedOutError as reason:
            logger.debug("nothing to hand over: %s", reason)
        except (SQLAlchemyError, OSError) as error:
            logger.warning("run %s is left as if its worker had died: %s", run_id, error)

    async def _traceparent(self, run_id: UUID) -> str | None:
        async with self._sessions() as session:
            return await session.scalar(select(Run.traceparent).where(Run.id == run_id))

    async def load(self, run_id: UUID) -> Recorded:
        """Read the run as it is recorded now."""
        async with self._sessions() as session:
            return await load_run(session, run_id)

    async def carry_out(self, decision: Decision, recorded: Recorded, fence: Fence) -> None:
        """Do what the decision says and record the outcome."""
        match decision:
            case StartAttempt(_, number):
                await self._produce(recorded, number, fence)
            case Evaluate(_, number):
                await self._evaluate(recorded, number, fence)
            case Wait(until=None) | Finished():
                pass
            case _:
                async with self._recorder.open(recorded.run.id, fence) as recording:
                    await _record(recording, decision, recorded.policy)


class _Step:
    """One run, as the refinement loop sees it."""

    def __init__(self, advance: Advance, run_id: UUID, fence: Fence) -> None:
        self._advance = advance
        self._run_id = run_id
        self._fence = fence
        self._recorded: Recorded | None = None

    async def load(self) -> tuple[History, RunPolicy]:
        self._recorded = await self._advance.load(self._run_id)
        return self._recorded.history, self._recorded.policy

    async def carry_out(self, decision: Decision) -> None:
        recorded = self._recorded
        assert recorded is not None  # noqa: S101 - the loop loads before it carries out
        logger.info("run %s: %s", self._run_id, decision)
        await self._advance.carry_out(decision, recorded, self._fence)


async def _record(recording: Recording, decision: Decision, policy: RunPolicy) -> None:
    match decision:
        case CompletePhase():
            await _complete_phase(recording, decision, policy)
        case CompleteRun():
            await _complete_run(recording)
        case Escalate():
            await _escalate(recording, decision)
        case Fail():
            _fail(recording, decision)
        case Wait(until):
            await enqueue_advance(recording.session, recording.run.id, at=until)
        case StartAttempt() | Evaluate() | Finished():
            raise AssertionError(f"{decision} is not recorded here")


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
    at = recording.envelope(decision.phase, decision.number)
    data = PhaseCompletedData(
        attempts=decision.number, commit=attempt.head_commit, accepted_by=decision.accepted_by
    )
    recording.emit(PhaseCompletedEvent(**dict(at), data=data))
    if following is not None:
        started = PhaseStartedData(max_attempts=policy.max_attempts)
        recording.emit(PhaseStartedEvent(**dict(recording.envelope(following)), data=started))


async def _complete_run(recording: Recording) -> None:
    run = recording.run
    _finish(run, RunStatus.COMPLETED, "every phase passed")
    attempts = await recording.session.scalar(
        select(func.count()).select_from(Attempt).where(Attempt.run_id == run.id)
    )
    data = WorkflowCompletedData(commit=run.head_commit, attempts=attempts or 0, usage=run_usage(run))
    recording.emit(WorkflowCompletedEvent(**dict(recording.envelope()), data=data))


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
    at = dict(recording.envelope(decision.phase, decision.number or None))
    data = EscalationRequiredData(
        escalation_id=escalation.id, reason_kind=decision.reason.value, reason=decision.text
    )
    recording.emit(EscalationRequiredEvent(**at, data=data))
    waiting = WorkflowStatusData(status=RunStatus.WAITING, reason=decision.text)
    recording.emit(WorkflowStatusEvent(**at, data=waiting))


async def _count_lost_worker(recording: Recording, decision: Escalate) -> None:
    """Count the worker that left the attempt half done: nobody takes it again, who would count it."""
    attempt = await _attempt(recording, decision.phase, decision.number)
    if attempt.status in (AttemptState.STARTED, AttemptState.EVALUATING):
        attempt.lost_workers += 1
        lay_down(attempt)


def _fail(recording: Recording, decision: Fail) -> None:
    run = recording.run
    _finish(run, RunStatus.FAILED, decision.reason)
    at = dict(recording.envelope(run.phase))
    recording.emit(PhaseFailedEvent(**at, data=PhaseFailedData(reason=decision.reason)))
    data = WorkflowFailedData(reason=decision.reason, by=decision.by)
    recording.emit(WorkflowFailedEvent(**at, data=data))


def _finish(run: Run, status: RunStatus, reason: str) -> None:
    run.status = status
    run.status_reason = reason
    run.finished_at = datetime.now(UTC)
    run.version += 1


def run_usage(run: Run) -> Usage:
    """What a run has consumed, judges included."""
    return Usage(
        requests=run.used_requests,
        tool_calls=run.used_tool_calls,
        input_tokens=run.used_input_tokens,
        output_tokens=run.used_output_tokens,
        cost_usd=run.used_cost_usd,
    )
