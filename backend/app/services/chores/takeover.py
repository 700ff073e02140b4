"""Recovers lost work: jobs of dead workers, jobs without a worker, runs without a job."""

import logging
import time
from collections.abc import Callable, Iterable

from sqlalchemy import select

from app.db.engine import Sessions
from app.db.models import Run
from app.db.outages import is_outage
from app.jobs.queue import Held, RunningJob, enqueue_advance, running_jobs, take_job_away
from app.jobs.silence import Pulse, Silence, SilenceRules
from app.schemas.runs import RunStatus
from app.services.chores.reconcile import Reconcile

logger = logging.getLogger(__name__)


class Takeover:
    """The sweep that each worker makes every few seconds on behalf of all workers.

    Args:
        sessions: opens transactions.
        reconcile: enqueues a job for runs without one.
        rules: when a worker counts as dead.
        silent_seconds: the age in seconds at which a heartbeat is overdue by the database's clock.
        clock: a monotonic clock in seconds.
    """

    def __init__(
        self,
        sessions: Sessions,
        reconcile: Reconcile,
        rules: SilenceRules,
        silent_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sessions = sessions
        self._reconcile = reconcile
        self._silence = Silence(rules)
        self._silent_seconds = silent_seconds
        self._clock = clock
        self._idle: frozenset[int] = frozenset()

    async def __call__(self, held: Held) -> frozenset[int]:
        """Sweep once, and return the jobs that this process still works on although it has lost them."""
        try:
            async with self._sessions() as session:
                jobs = await running_jobs(session, self._silent_seconds)
            for job in self._lost(jobs, held):
                await self._hand_over(job)
            lacking = await self._reconcile()
        except Exception as error:
            if not is_outage(error):
                raise
            logger.warning("cannot look for abandoned runs, the database is unavailable: %s", error)
            return frozenset()
        if lacking:
            logger.warning("queued new jobs for %d runs that had none", lacking)
        own = {job.id for job in jobs if job.worker_id is not None and job.worker_id == held.worker_id}
        return held.jobs - own

    def _lost(self, jobs: Iterable[RunningJob], held: Held) -> list[RunningJob]:
        jobs = list(jobs)
        pulses = {
            job.worker_id: Pulse(job.worker_id, job.heartbeat, job.overdue)
            for job in jobs
            if job.worker_id is not None and job.heartbeat is not None and job.worker_id != held.worker_id
        }
        dead = self._silence.dead(pulses.values(), self._clock())
        # A statement fetched or finished these jobs, but its reply was lost. A job must be seen twice,
        # because this process may be about to start it.
        idle = frozenset(
            job.id for job in jobs if job.worker_id == held.worker_id and job.id not in held.jobs
        )
        forgotten, self._idle = idle & self._idle, idle
        return [job for job in jobs if job.worker_id is None or job.worker_id in dead or job.id in forgotten]

    async def _hand_over(self, job: RunningJob) -> None:
        async with self._sessions.begin() as session:
            # A worker may have died or stalled with the row locked; the database soon ends its transaction.
            locked = select(Run).where(Run.id == job.run_id).with_for_update(skip_locked=True)
            run = await session.scalar(locked)
            if run is None and await session.get(Run, job.run_id) is not None:
                return
            if not await take_job_away(session, job):
                return
            # Enqueue a new job instead of the old one: the silent worker may wake up
            # and finish the old number.
            if run is not None and run.paused_at is None and not RunStatus(run.status).is_final:
                await enqueue_advance(session, job.run_id, first=True)
        logger.warning(
            "took job %s of run %s from worker %s, which stopped responding",
            job.id,
            job.run_id,
            job.worker_id,
        )
