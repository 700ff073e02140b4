"""Runs jobs: supervises the queue's worker and sweeps for lost work."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import procrastinate
from procrastinate import BaseRetryStrategy, JobContext, RetryDecision
from procrastinate.exceptions import JobAborted
from procrastinate.job_context import AbortReason
from procrastinate.jobs import DeleteJobCondition, Job
from procrastinate.worker import Worker

from app.jobs.connector import PatientConnector
from app.jobs.queue import ADVANCE_TASK, QUEUE, Held

logger = logging.getLogger(__name__)

RESTART_PAUSE_SECONDS = 1.0

# When a queue worker starts, it deletes the rows of workers that are silent for this long by the database's
# clock, and their jobs are then taken over at once. The time must exceed any jump of the clock; leaving a row
# costs little.
_FORGOTTEN_SECONDS = 365 * 86_400.0

Stopping = Callable[[], bool]
"""Tells whether this worker is stopping; it then starts nothing new."""

AdvanceBody = Callable[[UUID, int, int, Stopping], Awaitable[None]]
"""Advances a run; takes the run's id, the job's id, how often the job was tried, and the `Stopping` check.

Raises `PutBackError` instead of starting something new while the worker stops.
"""

Sweep = Callable[[Held], Awaitable[frozenset[int]]]
"""Recovers lost work; takes what this process holds and returns the jobs that others took over."""


class PutBackError(Exception):
    """The job stopped between two steps because its worker is stopping; it is put back for the next one."""


@dataclass(frozen=True, slots=True)
class WorkerTimings:
    """Periods in seconds.

    A worker writes a heartbeat every `heartbeat` seconds and counts as dead after `stalled_after` seconds of
    silence. Every `sweep` seconds it looks for jobs of dead workers and for runs without a job. At shutdown,
    the current step of a running job has `grace` seconds to finish before it is cancelled; the job is put
    back in either case.
    """

    heartbeat: float = 2.0
    stalled_after: float = 6.0
    sweep: float = 2.0
    grace: float = 5.0


class _AgainAfterShutdown(BaseRetryStrategy):
    """Retries a job that was cancelled because its worker is stopping; every other end is final."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, asyncio.CancelledError):
            return RetryDecision(retry_in={"seconds": 0})
        return None


class JobWorker:
    """The worker of one process; `run` works until it is cancelled."""

    def __init__(
        self,
        database_url: str,
        advance: AdvanceBody,
        sweep: Sweep,
        *,
        concurrency: int,
        timings: WorkerTimings,
    ) -> None:
        self._connector = PatientConnector(database_url, connections=concurrency + 3)
        self._app = procrastinate.App(connector=self._connector)
        self._advance = advance
        self._sweep_once = sweep
        self._concurrency = concurrency
        self._timings = timings
        self._worker: Worker | None = None
        self._stopping = False
        self._works: dict[int, asyncio.Future[None]] = {}
        self._app.task(name=ADVANCE_TASK, queue=QUEUE, pass_context=True, retry=_AgainAfterShutdown())(
            self._body
        )

    async def run(self) -> None:
        """Work until cancelled; running jobs then get their grace period and are put back."""
        async with self._app.open_async(), asyncio.TaskGroup() as group:
            group.create_task(self._supervise())
            group.create_task(self._sweep())

    def hurry(self) -> None:
        """Start nothing new and stop waiting for the database; call this before cancelling `run`."""
        self._stopping = True
        self._connector.give_up()

    async def _supervise(self) -> None:
        # The queue's worker ends when one of its internal tasks fails, so it is restarted.
        while not self._stopping:
            self._worker = self._new_worker()
            try:
                await self._worker.run()
                logger.warning("the job queue's worker ended unexpectedly; restarting it")
            except Exception as error:
                if self._stopping:
                    # The worker cannot sign off without the database. It raises that error in place of the
                    # cancellation.
                    logger.warning(
                        "the job queue's worker could not unregister: %s", error.__cause__ or error
                    )
                    return
                # Ending here would strand the worker's runs until another worker takes them over.
                logger.exception("the job queue's worker failed; restarting it")
            await asyncio.sleep(RESTART_PAUSE_SECONDS)

    def _new_worker(self) -> Worker:
        return Worker(
            self._app,
            queues=[QUEUE],
            concurrency=self._concurrency,
            fetch_job_polling_interval=1.0,
            abort_job_polling_interval=1.0,
            shutdown_graceful_timeout=self._timings.grace,
            delete_jobs=DeleteJobCondition.ALWAYS,
            install_signal_handlers=False,
            update_heartbeat_interval=self._timings.heartbeat,
            stalled_worker_timeout=_FORGOTTEN_SECONDS,
        )

    async def _sweep(self) -> None:
        while not self._stopping:
            held = Held(self._worker.worker_id if self._worker else None, frozenset(self._works))
            try:
                lost = await self._sweep_once(held)
            except Exception:
                # Ending the sweep here would lose work silently.
                logger.exception("the search for abandoned runs failed; retrying")
                lost = frozenset[int]()
            for job_id in lost & self._works.keys():
                logger.warning("another worker took over job %s; stopping it here", job_id)
                self._works[job_id].cancel()
            await asyncio.sleep(self._timings.sweep)

    async def _body(self, context: JobContext, run_id: str) -> None:
        job = context.job
        assert job.id is not None  # noqa: S101 - a fetched job has one
        work = asyncio.ensure_future(
            self._advance(UUID(run_id), job.id, job.attempts, lambda: self._stopping)
        )
        self._works[job.id] = work
        try:
            await work
        except PutBackError:
            # The queue treats this like a job that was cancelled at the end of the grace period.
            raise asyncio.CancelledError from None
        except asyncio.CancelledError:
            if context.abort_reason() is AbortReason.USER_REQUEST:
                raise JobAborted from None
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Only the work was cancelled, because the job now belongs to another worker.
        finally:
            del self._works[job.id]


@asynccontextmanager
async def running(worker: JobWorker) -> AsyncGenerator[Callable[[], None]]:
    """Run the worker in the background while the block runs.

    Yields a function that starts to stop the worker and returns at once. The end of the block then waits only
    for what is left of the grace period.
    """
    task = asyncio.create_task(worker.run(), name="worker")
    task.add_done_callback(_tell_death)

    def stop() -> None:
        # Cancel only once: a second cancellation would cut the grace period short.
        if not task.cancelling():
            worker.hurry()
            task.cancel()

    try:
        yield stop
    finally:
        stop()
        await asyncio.wait([task])


def _tell_death(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.critical("the worker ended; no runs are executed", exc_info=task.exception())
