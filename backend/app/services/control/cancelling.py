"""Cancels runs of every kind, with their subtasks."""

from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import ConflictError, NotFoundError
from app.core.events.runs import RunCancelledData
from app.db.engine import Sessions
from app.db.models import Escalation, Run
from app.jobs.queue import abort_advance
from app.schemas.runs import RunKind, RunStatus
from app.services.control.idempotency import UNKEYED, Once
from app.services.control.intake import Show, ViewT
from app.services.read.runs import load_detail
from app.services.record.family import unfinished_subtasks, wake_parent
from app.services.record.messages import refuse_messages
from app.services.record.outbox import NO_WEBHOOKS, Outbox
from app.services.record.phase_outcomes import keep_outcomes
from app.services.record.transactions import EventBell, Recording


class CancelService:
    """Cancels runs of every kind.

    Args:
        sessions: opens transactions.
        bell: signals new events.
        outbox: queues messages to other services.
    """

    def __init__(self, sessions: Sessions, bell: EventBell, outbox: Outbox = NO_WEBHOOKS) -> None:
        self._sessions = sessions
        self._bell = bell
        self._outbox = outbox

    async def cancel(
        self, run_id: UUID, reason: str, actor: str, once: Once = UNKEYED, show: Show[ViewT] = load_detail
    ) -> ViewT:
        """Cancel a run that is not over, with its subtasks; recorded data stays.

        Args:
            run_id: the run.
            reason: stored with the run.
            actor: the name of the person or token that cancels.
            once: the request, for which a repetition has no second effect.
            show: makes the response; by default it holds what runs of every kind have in common.

        Raises:
            NotFoundError: there is no such run.
            ConflictError: the run is already over.
            ReplayError: the same request has cancelled the run in the meantime.
        """
        async with self._sessions.begin() as session:
            await once.claim(session)
            await cancel_run(session, run_id, reason, actor, self._outbox)
            view = await show(session, run_id)
            await once.keep(session, view)
        self._bell.ring(run_id)
        return view


def word_of(run: Run) -> str:
    """Return the word for a run's kind."""
    return RunKind(run.kind).word


async def cancel_run(session: AsyncSession, run_id: UUID, reason: str, actor: str, outbox: Outbox) -> None:
    """End a run: delete its job, stop its agent, withdraw its escalation and end its subtasks.

    Raises:
        NotFoundError: there is no such run.
        ConflictError: the run is already over.
    """
    run = await session.get(Run, run_id, with_for_update=True)
    if run is None:
        raise NotFoundError(f"there is no run {run_id}")
    if RunStatus(run.status).is_final:
        when = f" since {run.finished_at:%Y-%m-%d %H:%M:%S} UTC" if run.finished_at else ""
        raise ConflictError(f"the {word_of(run)} is {run.status}{when}", run_status=run.status)
    await _end(session, run, reason, actor, outbox)
    await wake_parent(session, run)


async def _end(session: AsyncSession, run: Run, reason: str, actor: str, outbox: Outbox) -> None:
    run.status = RunStatus.CANCELLED
    run.status_reason = reason or f"cancelled by {actor}"
    run.finished_at = datetime.now(UTC)
    run.paused_at, run.paused_by, run.pause_reason = None, None, ""
    run.version += 1
    withdraw = update(Escalation).where(Escalation.run_id == run.id, Escalation.status == "open")
    await session.execute(withdraw.values(status="withdrawn", version=Escalation.version + 1))
    await keep_outcomes(session, run.id)
    recording = Recording(session, run, outbox)
    await refuse_messages(recording, "the run was cancelled")
    recording.tell(RunCancelledData(by=actor, reason=reason), run.phase)
    await recording.flush_events()
    await abort_advance(session, run.id)
    for subtask in await unfinished_subtasks(session, run.id):
        await _end(session, subtask, "the loop that asked for it was cancelled", actor, outbox)
