"""Reminds people of open escalations."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import func, select

from app.core.events.escalations import EscalationReminderData
from app.db.engine import Sessions
from app.db.models import Escalation, Run
from app.services.chores.reminder_times import reminders_until
from app.services.record.outbox import NO_WEBHOOKS, Outbox
from app.services.record.transactions import EventBell, Recording

_BATCH = 100


class ReminderService:
    """Records reminders of open escalations. The times are in rows, so waiting costs no memory.

    If several reminders were due while no worker ran, one is sent. Any number of workers may
    call this at the same time.

    Args:
        sessions: opens short transactions.
        bell: signals new events.
        hours: when to remind, in hours after the escalation; multiples of the last follow.
        outbox: queues messages to other services.
    """

    def __init__(
        self, sessions: Sessions, bell: EventBell, hours: Sequence[float], outbox: Outbox = NO_WEBHOOKS
    ) -> None:
        self._sessions = sessions
        self._bell = bell
        self._hours = hours
        self._outbox = outbox

    async def __call__(self) -> int:
        """Record the reminders that are due, and return how many there were."""
        told = 0
        while due := await self._due():
            for run_id, escalation_id in due:
                told += await self._remind(run_id, escalation_id)
        return told

    async def _due(self) -> Sequence[tuple[UUID, UUID]]:
        statement = (
            select(Escalation.run_id, Escalation.id)
            .join(Run)
            .where(Escalation.status == "open", Escalation.remind_at <= func.now(), Run.paused_at.is_(None))
            .order_by(Escalation.remind_at)
            .limit(_BATCH)
        )
        async with self._sessions() as session:
            return [(run_id, escalation_id) for run_id, escalation_id in await session.execute(statement)]

    async def _remind(self, run_id: UUID, escalation_id: UUID) -> bool:
        async with self._sessions.begin() as session:
            # Lock the run first, in the same order as every other writer.
            run = await session.get_one(Run, run_id, with_for_update=True)
            escalation = await session.get_one(Escalation, escalation_id, with_for_update=True)
            # Use the database's clock, which also selected what is due.
            now = (await session.execute(select(func.now()))).scalar_one()
            if escalation.status != "open" or run.paused_at is not None:
                return False
            due = reminders_until(now, escalation.created_at, self._hours)
            escalation.remind_at = due.next_at
            if due.passed <= escalation.reminders:
                return False
            escalation.reminders = due.passed
            data = EscalationReminderData(
                escalation_id=escalation.id,
                reason_kind=escalation.reason_kind,
                reason=escalation.reason,
                reminder=due.passed,
                waiting_seconds=round((now - escalation.created_at).total_seconds()),
            )
            recording = Recording(session, run, self._outbox)
            recording.tell(data, escalation.phase, escalation.attempt or None)
            await recording.flush_events()
        self._bell.ring(run_id)
        return True
