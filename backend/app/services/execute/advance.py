"""Advances a run by one recorded decision after the other, until it rests. This is the body of every job."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any
from uuid import UUID

import logfire
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from app.agents.gateway_port import RequestLabels, labelled
from app.core.telemetry import continued_trace
from app.db.engine import Sessions
from app.db.models import Run
from app.db.outages import through_outages
from app.jobs.worker import PutBackError, Stopping
from app.realtime.store import Fence
from app.runners.budgets import DayBudgets
from app.runners.decision import Decision, Evaluate, Finished, StartAttempt, Wait
from app.runners.facts import History
from app.runners.refinement import refine
from app.runners.retry_limits import WORKER_FAILED
from app.schemas.runs import ModelRole, RunKind, RunPolicy
from app.services.execute.outcomes import record_decision
from app.services.record.attempts import note_failure, release_attempts
from app.services.record.history import Recorded, load_run
from app.services.record.transactions import FencedOutError, Recorder

logger = logging.getLogger(__name__)

HAND_OVER_SECONDS = 5.0
"""How long a stopping worker waits for the database; the next worker finds out without the hand-over."""

MAX_ERROR_CHARS = 500

CarryOutAttempt = Callable[[Recorded, int, Fence], Coroutine[Any, Any, None]]
"""Produces or judges one attempt; takes the recorded run, the attempt's number and the fence."""


@dataclass(frozen=True, slots=True)
class KindSteps:
    """How the attempts of one kind of run are carried out.

    Attributes:
        produce: lets the agent work on an attempt.
        evaluate: judges an attempt's output.
        asks_as: the role that asks models while an attempt is produced.
    """

    produce: CarryOutAttempt
    evaluate: CarryOutAttempt
    asks_as: ModelRole = ModelRole.AGENT


def _never() -> bool:
    return False


class Advance:
    """Carries out the decisions on runs of every kind.

    Args:
        sessions: opens short sessions for reading.
        recorder: opens fenced transactions.
        steps: what differs between the kinds of runs.
        days: the operator's daily budgets; None sets no bound.
    """

    def __init__(
        self,
        sessions: Sessions,
        recorder: Recorder,
        steps: Mapping[RunKind, KindSteps],
        days: DayBudgets | None = None,
    ) -> None:
        self._sessions = sessions
        self._recorder = recorder
        self._steps = steps
        self._days = days

    async def __call__(self, run_id: UUID, job_id: int, job_try: int, stopping: Stopping = _never) -> None:
        """Advance the run as job `job_id` of the queue, on the job's try number `job_try`.

        Raises:
            PutBackError: `stopping` reported between two steps that this worker is stopping;
                finished steps are recorded.
        """
        fence = Fence(job_id, job_try)
        try:
            # The records show how far the run came, so after an outage the run continues from them.
            await through_outages(partial(self._advance, run_id, fence, stopping, count()))
        except FencedOutError as reason:
            logger.info("%s; discarding its outcome", reason)
        except asyncio.CancelledError:
            await asyncio.shield(self._hand_over(run_id, fence))
            raise
        except PutBackError:
            raise
        except Exception as error:
            # The queue logs it. The next job tries again, and in the end a person is asked.
            await self._note(run_id, fence, error)
            raise

    async def _advance(self, run_id: UUID, fence: Fence, stopping: Stopping, rounds: Iterator[int]) -> None:
        if not await self._recorder.take(run_id, fence):
            logger.info("skipped job %s of run %s: another job has replaced it", fence.job_id, run_id)
            return
        if next(rounds) > 0:
            # No worker was lost: unfinished work starts again without being counted.
            async with self._recorder.open(run_id, fence) as recording:
                await release_attempts(recording, "the database was unavailable; the attempt continues")
        step = _Step(self, run_id, fence, stopping)
        with (
            continued_trace(await self._traceparent(run_id)),
            logfire.span("run {run_id}", run_id=run_id),
        ):
            await refine(step.load, step.carry_out)

    async def _note(self, run_id: UUID, fence: Fence, error: Exception) -> None:
        """Record the error that ends a job on the attempt in progress, for the person who is asked."""
        told = f"{WORKER_FAILED}{type(error).__name__}: {error}"[:MAX_ERROR_CHARS]
        try:
            async with self._recorder.open(run_id, fence) as recording:
                await note_failure(recording, told)
        except FencedOutError as reason:
            logger.debug("nothing to note: %s", reason)
        except (SQLAlchemyError, OSError) as trouble:
            logger.warning("could not note why the job of run %s failed: %s", run_id, trouble)

    async def _hand_over(self, run_id: UUID, fence: Fence) -> None:
        """Release the attempt to the next worker; a stopped worker uses up no attempt."""
        try:
            async with (
                asyncio.timeout(HAND_OVER_SECONDS),
                self._recorder.open(run_id, fence) as recording,
            ):
                await release_attempts(recording, "the worker was stopped; another one continues")
        except FencedOutError as reason:
            logger.debug("nothing to hand over: %s", reason)
        except (SQLAlchemyError, OSError) as error:
            logger.warning("could not hand over run %s; another worker will take it over: %s", run_id, error)

    async def _traceparent(self, run_id: UUID) -> str | None:
        async with self._sessions() as session:
            return await session.scalar(select(Run.traceparent).where(Run.id == run_id))

    async def load(self, run_id: UUID) -> Recorded:
        """Read the run as it is recorded now."""
        async with self._sessions() as session:
            return await load_run(session, run_id, self._days)

    async def carry_out(self, decision: Decision, recorded: Recorded, fence: Fence) -> None:
        """Carry out the decision and record its outcome."""
        steps = self._steps[RunKind(recorded.run.kind)]
        match decision:
            case StartAttempt(_, number):
                with labelled(_labels(recorded, number, steps.asks_as)):
                    await steps.produce(recorded, number, fence)
            case Evaluate(_, number):
                with labelled(_labels(recorded, number, ModelRole.JUDGE)):
                    await steps.evaluate(recorded, number, fence)
            case Wait(until=None) | Finished():
                pass
            case _:
                async with self._recorder.open(recorded.run.id, fence) as recording:
                    await record_decision(recording, decision, recorded.policy)


def _labels(recorded: Recorded, number: int, role: ModelRole) -> RequestLabels:
    return RequestLabels(recorded.run.id, recorded.run.phase, number, role=role)


class _Step:
    """One run, as the refinement loop sees it."""

    def __init__(self, advance: Advance, run_id: UUID, fence: Fence, stopping: Stopping) -> None:
        self._advance = advance
        self._run_id = run_id
        self._fence = fence
        self._stopping = stopping
        self._recorded: Recorded | None = None

    async def load(self) -> tuple[History, RunPolicy]:
        if self._stopping():
            raise PutBackError(f"the worker stops; another one continues run {self._run_id}")
        self._recorded = await self._advance.load(self._run_id)
        return self._recorded.history, self._recorded.policy

    async def carry_out(self, decision: Decision) -> None:
        recorded = self._recorded
        assert recorded is not None  # noqa: S101 - the loop loads before it carries out
        logger.info("run %s: %s", self._run_id, decision)
        await self._advance.carry_out(decision, recorded, self._fence)
