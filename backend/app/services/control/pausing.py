"""Pauses and resumes runs."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import ConflictError, NotFoundError
from app.core.events.runs import RunPausedData, RunResumedData
from app.db.engine import Sessions
from app.db.models import Attempt, Run
from app.jobs.queue import abort_advance, enqueue_advance
from app.schemas.api.run_details import RunDetail
from app.schemas.runs import RunStatus
from app.services.control.cancelling import word_of
from app.services.control.idempotency import UNKEYED, Once
from app.services.read.runs import load_detail
from app.services.record.attempts import release_attempts
from app.services.record.family import unfinished_subtasks
from app.services.record.transactions import EventBell, Recording
from app.services.record.waiting import end_wait, rests


class PauseService:
    """Pauses and resumes runs.

    A paused run has no job. It keeps its status, so that it continues from there; people can
    still decide its escalations.

    Args:
        sessions: opens transactions.
        bell: signals new events.
    """

    def __init__(self, sessions: Sessions, bell: EventBell) -> None:
        self._sessions = sessions
        self._bell = bell

    async def pause(self, run_id: UUID, reason: str, actor: str, once: Once = UNKEYED) -> RunDetail:
        """Delete a run's job and stop its agent or evaluators; the interrupted attempt is not used up.

        Raises:
            NotFoundError: there is no such run.
            ConflictError: the run is over or already paused.
            ReplayError: the same request has paused the run in the meantime.
        """
        async with self._sessions.begin() as session:
            await once.claim(session)
            run = await _lock_unfinished(session, run_id)
            if run.paused_at is not None:
                raise ConflictError(f"the {word_of(run)} is {state_in_words(run)}", **_members(run))
            await _hold(session, run, reason, actor)
            sprint = await load_detail(session, run_id)
            await once.keep(session, sprint)
        self._bell.ring(run_id)
        return sprint

    async def resume(self, run_id: UUID, actor: str, once: Once = UNKEYED) -> RunDetail:
        """Continue a run that is paused, or that rests until its model may be available again.

        Raises:
            NotFoundError: there is no such run.
            ConflictError: the run is over, or neither paused nor resting.
            ReplayError: the same request has resumed the run in the meantime.
        """
        async with self._sessions.begin() as session:
            await once.claim(session)
            run = await _lock_unfinished(session, run_id)
            if run.paused_at is not None:
                await _let_go(session, run, actor)
            elif not await _end_rest(session, run, actor):
                raise ConflictError(f"the {word_of(run)} is {run.status} and not paused", **_members(run))
            sprint = await load_detail(session, run_id)
            await once.keep(session, sprint)
        self._bell.ring(run_id)
        return sprint


async def _hold(session: AsyncSession, run: Run, reason: str, actor: str) -> None:
    """Pause a run and the subtasks that it waits for."""
    run.paused_at, run.paused_by, run.pause_reason = datetime.now(UTC), actor, reason
    # No worker holds the new fence, so the stopped worker can record nothing more.
    run.fence_try += 1
    run.version += 1
    recording = Recording(session, run)
    await release_attempts(recording, f"paused by {actor}; it continues when the {word_of(run)} is resumed")
    recording.tell(RunPausedData(by=actor, reason=reason), run.phase)
    await recording.flush_events()
    await abort_advance(session, run.id)
    for subtask in await unfinished_subtasks(session, run.id):
        if subtask.paused_at is None:
            await _hold(session, subtask, reason or "the loop that asked for it is paused", actor)


async def _let_go(session: AsyncSession, run: Run, actor: str) -> None:
    """Resume a run and the subtasks that it waits for."""
    run.paused_at, run.paused_by, run.pause_reason = None, None, ""
    run.version += 1
    recording = Recording(session, run)
    recording.tell(RunResumedData(by=actor), run.phase)
    await recording.flush_events()
    if run.status != RunStatus.WAITING:
        await enqueue_advance(session, run.id)
    for subtask in await unfinished_subtasks(session, run.id):
        if subtask.paused_at is not None:
            await _let_go(session, subtask, actor)


async def _end_rest(session: AsyncSession, run: Run, actor: str) -> bool:
    """Let a resting run try again at once, and return whether it was resting."""
    latest = select(Attempt).where(Attempt.run_id == run.id, Attempt.phase == run.phase)
    attempt = await session.scalar(latest.order_by(Attempt.number.desc()).limit(1))
    if attempt is None or run.status == RunStatus.WAITING or not rests(attempt, datetime.now(UTC)):
        return False
    attempt.not_before = attempt.provider_reset_at = None
    recording = Recording(session, run)
    recording.tell(RunResumedData(by=actor), run.phase, attempt.number)
    end_wait(recording)
    await recording.flush_events()
    await abort_advance(session, run.id)
    await enqueue_advance(session, run.id)
    return True


def state_in_words(run: Run) -> str:
    """Return a run's state in words, for the message of a refusal."""
    if run.paused_at is not None:
        return f"paused since {run.paused_at:%Y-%m-%d %H:%M:%S} UTC by {run.paused_by}"
    when = f" since {run.finished_at:%Y-%m-%d %H:%M:%S} UTC" if run.finished_at else ""
    return f"{run.status}{when}"


async def _lock_unfinished(session: AsyncSession, run_id: UUID) -> Run:
    run = await session.get(Run, run_id, with_for_update=True)
    if run is None:
        raise NotFoundError(f"there is no run {run_id}")
    if RunStatus(run.status).is_final:
        raise ConflictError(f"the {word_of(run)} is {state_in_words(run)}", **_members(run))
    return run


def _members(run: Run) -> dict[str, Any]:
    return {"run_status": run.status, "paused": run.paused_at is not None}
