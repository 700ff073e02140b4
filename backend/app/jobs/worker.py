"""Runs jobs: the queue's worker, supervised, with the loops that bring back lost work."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import procrastinate
from procrastinate import BaseRetryStrategy, JobContext, PsycopgConnector, RetryDecision
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException, JobAborted
from procrastinate.job_context import AbortReason
from procrastinate.jobs import DeleteJobCondition, Job, Status

from app.jobs.queue import ADVANCE_TASK, QUEUE

logger = logging.getLogger(__name__)

RESTART_PAUSE_SECONDS = 1.0

AdvanceBody = Callable[[UUID, int, int], Awaitable[None]]
"""Moves a run on; takes the run, the job's id and how often the job was tried."""

Reconcile = Callable[[], Awaitable[int]]
"""Gives every runnable run that has no job a job; returns how many lacked one."""


@dataclass(frozen=True, slots=True)
class WorkerTimings:
    """Periods in seconds.

    A worker writes a heartbeat every `heartbeat`; one that is silent for `stalled_after` is taken for dead.
    `sweep` is the period of looking for dead workers' jobs and for runs without a job. Shutdown gives running
    jobs `grace` before they are cancelled and put back.
    """

    heartbeat: float = 2.0
    stalled_after: float = 6.0
    sweep: float = 2.0
    grace: float = 5.0


class _AgainAfterShutdown(BaseRetryStrategy):
    """A job that was cancelled because its worker stops is put back; any other end is an end."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, asyncio.CancelledError):
            return RetryDecision(retry_in={"seconds": 0})
        return None


class JobWorker:
    """One process's worker; `run` works until it is cancelled."""

    def __init__(
        self,
        database_url: str,
        advance: AdvanceBody,
        reconcile: Reconcile,
        *,
        concurrency: int,
        timings: WorkerTimings,
    ) -> None:
        self._app = procrastinate.App(
            connector=PsycopgConnector(conninfo=database_url, min_size=1, max_size=concurrency + 3)
        )
        self._reconcile = reconcile
        self._concurrency = concurrency
        self._timings = timings
        self._app.task(name=ADVANCE_TASK, queue=QUEUE, pass_context=True, retry=_AgainAfterShutdown())(
            _task_body(advance)
        )

    async def run(self) -> None:
        """Work until cancelled; running jobs then get their grace and are put back."""
        async with self._app.open_async(), asyncio.TaskGroup() as group:
            group.create_task(self._supervise())
            group.create_task(self._sweep())

    async def _supervise(self) -> None:
        # The queue's worker ends when one of its helpers fails, as after a long database outage.
        while True:
            try:
                await self._app.run_worker_async(
                    queues=[QUEUE],
                    concurrency=self._concurrency,
                    fetch_job_polling_interval=1.0,
                    abort_job_polling_interval=1.0,
                    shutdown_graceful_timeout=self._timings.grace,
                    delete_jobs=DeleteJobCondition.ALWAYS,
                    install_signal_handlers=False,
                    update_heartbeat_interval=self._timings.heartbeat,
                    # Only our sweep may drop workers: it hands their jobs over first.
                    stalled_worker_timeout=3600.0,
                )
                logger.warning("the queue's worker ended; it is started again")
            except Exception:
                # A worker that stopped working would leave its runs to others, or to nobody.
                logger.exception("the queue's worker failed; it is started again")
            await asyncio.sleep(RESTART_PAUSE_SECONDS)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(self._timings.sweep)
            try:
                await self._take_over_stalled()
                lacking = await self._reconcile()
            except Exception:
                # A worker that stopped looking would lose work without anybody noticing.
                logger.exception("looking for lost work failed; it is tried again")
                continue
            if lacking:
                logger.warning("%d runs had no job and were given one", lacking)

    async def _take_over_stalled(self) -> None:
        manager = self._app.job_manager
        stalled = await manager.get_stalled_jobs(
            queue=QUEUE, seconds_since_heartbeat=self._timings.stalled_after
        )
        for job in stalled:
            logger.warning("taking over job %s of %s from a worker that is silent", job.id, job.lock)
            # A new job and not a retry of this one: the silent worker may wake up and finish *its* job.
            try:
                await manager.defer_job_async(job.evolve(id=None, scheduled_at=None))
            except AlreadyEnqueued:
                logger.debug("run %s has a job already", job.lock)
            await self._finish_quietly(job)

    async def _finish_quietly(self, job: Job) -> None:
        try:
            await self._app.job_manager.finish_job(job=job, status=Status.FAILED, delete_job=True)
        except ConnectorException as error:
            logger.debug("job %s is finished already: %s", job.id, error)


def _task_body(advance: AdvanceBody) -> Callable[..., Awaitable[None]]:
    async def body(context: JobContext, run_id: str) -> None:
        job = context.job
        assert job.id is not None  # noqa: S101 - a fetched job has one
        try:
            await advance(UUID(run_id), job.id, job.attempts)
        except asyncio.CancelledError:
            if context.abort_reason() is AbortReason.USER_REQUEST:
                raise JobAborted from None
            raise

    return body


@asynccontextmanager
async def running(worker: JobWorker) -> AsyncGenerator[None]:
    """Run the worker in the background while the block runs."""
    task = asyncio.create_task(worker.run(), name="worker")
    task.add_done_callback(_tell_death)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


def _tell_death(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.critical("the worker ended; nothing is worked on any more", exc_info=task.exception())
