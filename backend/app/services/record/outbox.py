"""Queues webhook messages about a run, in the transaction of the event."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from sqlalchemy import func, insert, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.websocket_events import FINAL_EVENT_TYPES, Event, SprintEventType
from app.db.models import ForgeReport, WebhookDelivery

SENT_EVENT_TYPES = FINAL_EVENT_TYPES | {
    SprintEventType.ESCALATION_REQUIRED,
    SprintEventType.ESCALATION_REMINDER,
    SprintEventType.BUDGET_WARNING,
}
"""Events that are sent to other services."""

_NOTIFY = "notify:"


def notify_address(name: str) -> str:
    """Return the address in the outbox for a receiver in the operator's file of notifications."""
    return f"{_NOTIFY}{name}"


def receiver_name(address: str) -> str | None:
    """Return the name of the receiver of notifications for an address; None if the address is a URL."""
    return address.removeprefix(_NOTIFY) if address.startswith(_NOTIFY) else None


@dataclass(frozen=True, slots=True)
class NotificationSubscription:
    """A receiver of notifications, and the events that it gets."""

    address: str
    events: frozenset[SprintEventType]


@dataclass(frozen=True, slots=True)
class Outbox:
    """Writes one row for each message and address; without addresses it writes nothing.

    Attributes:
        urls: addresses of webhook receivers.
        forges: whether runs are also reported to forges.
        people: receivers of notifications.
    """

    urls: tuple[str, ...] = ()
    forges: bool = False
    people: tuple[NotificationSubscription, ...] = ()

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return every configured address."""
        return (*self.urls, *(each.address for each in self.people))

    async def put(
        self, session: AsyncSession, run_id: UUID, events: Sequence[Event], last: int | None
    ) -> None:
        """Queue messages for events that were just appended; `last` is the sequence of the last one."""
        if last is None:
            return
        if self.forges and any(each.event in SENT_EVENT_TYPES for each in events):
            await want_report(session, run_id)
        if not self.addresses:
            return
        first = last - len(events) + 1
        rows = [
            {"id": uuid4(), "run_id": run_id, "sequence": first + index, "event": each.event, "url": url}
            for index, each in enumerate(events)
            if each.event in SENT_EVENT_TYPES
            for url in (*self.urls, *(who.address for who in self.people if each.event in who.events))
        ]
        if rows:
            await session.execute(insert(WebhookDelivery), rows)


async def want_report(session: AsyncSession, run_id: UUID) -> None:
    """Make a report on the run to its forge due; does nothing for runs without a forge."""
    statement = update(ForgeReport).where(ForgeReport.run_id == run_id)
    await session.execute(
        statement.values(wanted=ForgeReport.wanted + 1, tries=0, next_at=func.now(), last_error="")
    )


NO_WEBHOOKS = Outbox()
"""The outbox of a service without webhooks."""
