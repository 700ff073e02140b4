"""Sends the messages in the outbox, and retries until they are accepted or given up."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import func

from app.db.engine import Sessions
from app.db.models import EventRow, Run, WebhookDelivery
from app.db.outages import through_outages
from app.services.record.leases import Leases
from app.services.record.outbox import receiver_name
from app.webhooks.sending import WebhookError

logger = logging.getLogger(__name__)

MAX_TRIES = 10
LEASE = timedelta(minutes=5)
"""How long a message is left to the worker that has taken it; if that worker dies, another sends it then."""

LAST_SECONDS = 5.0
"""How long the end of a process waits for messages that are being sent."""

_BATCH = 10
_FIRST_PAUSE_SECONDS = 5.0
_LONGEST_PAUSE_SECONDS = 6 * 3600.0

Send = Callable[[str, str, bytes], Awaitable[None]]
"""Sends a body to a URL under a message id, or raises `WebhookError`."""

Notify = Callable[[str, UUID, EventRow], Awaitable[None]]
"""Notifies the named receiver of an event under a message id, or raises `WebhookError`."""


def pause_after(tries: int) -> float:
    """Return the pause in seconds after try `tries`: four times as long each time, at most six hours."""
    return min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 4.0 ** (tries - 1))


@dataclass(frozen=True, slots=True)
class _Message:
    id: UUID
    url: str
    tries: int
    run_id: UUID
    sequence: int


class WebhookService:
    """Delivers messages. Any number of workers do so at the same time; a run never waits for them.

    A message is sent at least once. Its id is the same each time, so receivers can recognise a repetition.

    Args:
        sessions: opens short transactions; none is open during a request to a receiver.
        urls: the addresses that are configured now; messages to other addresses are not sent.
        send: sends one message to a URL; None if there are only notifications.
        notify: sends one notification to people; None if there are none.
    """

    def __init__(
        self, sessions: Sessions, urls: tuple[str, ...], send: Send | None, notify: Notify | None = None
    ) -> None:
        self._sessions = sessions
        self._leases = Leases(
            sessions=sessions,
            table=WebhookDelivery,
            due_at="next_at",
            make=_Message,
            waits=(WebhookDelivery.status == "pending", WebhookDelivery.url.in_(urls)),
            batch=_BATCH,
            lease=LEASE,
        )
        self._send = send
        self._notify = notify

    async def __call__(self) -> int:
        """Send the messages that are due, and return how many were tried."""
        tried = 0
        while batch := await self._leases.take():
            await _to_their_ends([asyncio.create_task(self._deliver(message)) for message in batch])
            tried += len(batch)
        return tried

    async def _deliver(self, message: _Message) -> None:
        found = await through_outages(partial(self._event, message))
        if found is None:
            await self._record_failure(message, "the event is no longer stored", final=True)
            return
        try:
            await self._pass_on(message, *found)
        except WebhookError as error:
            await self._record_failure(message, str(error), final=False, wait=error.retry_after)
            return
        except Exception as error:  # one message's fault must not interrupt the others of its batch
            logger.exception("webhook %s could not be sent", message.id)
            reason = f"an internal error, {type(error).__name__}; the worker's log has more"
            await self._record_failure(message, reason, final=False)
            return
        values = {"status": "delivered", "last_error": "", "finished_at": datetime.now(UTC)}
        await self._record(message, values)

    async def _pass_on(self, message: _Message, event: EventRow, run: Run) -> None:
        name = receiver_name(message.url)
        if name is not None and self._notify is not None:
            await self._notify(name, message.id, event)
        elif self._send is not None:
            await self._send(message.url, str(message.id), message_body(event, run))

    async def _record_failure(
        self, message: _Message, reason: str, *, final: bool, wait: float | None = None
    ) -> None:
        now = datetime.now(UTC)
        if final or message.tries >= MAX_TRIES:
            logger.error("webhook %s failed for good after %d tries: %s", message.id, message.tries, reason)
            await self._record(message, {"status": "failed", "last_error": reason, "finished_at": now})
            return
        pause = max(pause_after(message.tries), wait or 0.0)
        logger.warning("webhook %s failed, retrying in %g s: %s", message.id, pause, reason)
        await self._record(message, {"last_error": reason, "next_at": func.now() + timedelta(seconds=pause)})

    async def _record(self, message: _Message, values: dict[str, Any]) -> None:
        # If this were lost, a message that was accepted would be sent again after its lease.
        is_open = WebhookDelivery.status == "pending"
        await through_outages(partial(self._leases.record, message.id, message.tries, values, is_open))

    async def _event(self, message: _Message) -> tuple[EventRow, Run] | None:
        async with self._sessions() as session:
            event = await session.get(EventRow, (message.run_id, message.sequence))
            run = await session.get(Run, message.run_id)
        return None if event is None or run is None else (event, run)


async def _to_their_ends(sending: Sequence[asyncio.Task[None]]) -> None:
    """Wait for messages that are being sent.

    If this is cancelled because the process stops, they have a few more seconds: people would get a message
    again if it was accepted and that is not recorded.
    """
    try:
        await asyncio.wait(sending)
    except asyncio.CancelledError:
        await asyncio.wait(sending, timeout=LAST_SECONDS)
        raise
    finally:
        for each in sending:
            each.cancel()
        await asyncio.wait(sending)
    for each in sending:
        each.result()


def message_body(event: EventRow, run: Run) -> bytes:
    """Return the body of a message: the event's envelope, as clients get it, and the run's present state."""
    document = {
        "event": event.type,
        "run_id": str(event.run_id),
        "sprint_id": str(event.run_id),
        "sequence": event.sequence,
        "timestamp": event.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "phase": event.phase,
        "attempt": event.attempt,
        "trace_id": event.trace_id,
        "data": event.data,
        "run": {
            "name": run.name,
            "kind": run.kind,
            "status": run.status,
            "status_reason": run.status_reason,
            "path": f"/api/v1/runs/{run.id}",
        },
    }
    return json.dumps(document).encode()
