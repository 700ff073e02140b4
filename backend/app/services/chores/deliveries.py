"""Lists webhook deliveries with their errors, and repeats one on request."""

from datetime import UTC, datetime
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import select, tuple_

from app.core.errors import ConflictError, NotFoundError
from app.db.engine import Sessions
from app.db.models import WebhookDelivery
from app.schemas.api.webhooks import DeliveryPage, DeliveryStatus, DeliveryView
from app.services.read.paging import decode_cursor, encode_cursor
from app.services.record.outbox import receiver_name


class DeliveryService:
    """Lists messages and retries them.

    Args:
        sessions: opens transactions.
        urls: the addresses that are configured now; messages to other addresses are not sent.
    """

    def __init__(self, sessions: Sessions, urls: tuple[str, ...]) -> None:
        self._sessions = sessions
        self._urls = urls

    async def page(
        self, *, status: DeliveryStatus | None, run_id: UUID | None, limit: int, cursor: str | None
    ) -> DeliveryPage:
        """Return a page of messages, newest first.

        Raises:
            InvalidInputError: the cursor is invalid.
        """
        row = WebhookDelivery
        statement = select(row)
        if status is not None:
            statement = statement.where(row.status == status)
        if run_id is not None:
            statement = statement.where(row.run_id == run_id)
        if cursor is not None:
            statement = statement.where(tuple_(row.created_at, row.id) < tuple_(*decode_cursor(cursor)))
        statement = statement.order_by(row.created_at.desc(), row.id.desc()).limit(limit + 1)
        async with self._sessions() as session:
            rows = (await session.scalars(statement)).all()
        last = rows[limit - 1] if len(rows) > limit else None
        return DeliveryPage(
            items=[_view(each) for each in rows[:limit]],
            next_cursor=encode_cursor(last.created_at, last.id) if last else None,
        )

    async def retry(self, delivery_id: UUID) -> DeliveryView:
        """Send an unaccepted message again as soon as a worker can, with a full new set of tries.

        Raises:
            NotFoundError: there is no such message.
            ConflictError: the message was already accepted, or its address is no longer configured.
        """
        async with self._sessions.begin() as session:
            row = await session.get(WebhookDelivery, delivery_id, with_for_update=True)
            if row is None:
                raise NotFoundError(f"there is no message {delivery_id}")
            if row.status == "delivered":
                raise ConflictError(f"the message was taken at {row.finished_at:%Y-%m-%d %H:%M:%S} UTC")
            if row.url not in self._urls:
                raise ConflictError("its receiver is no longer in WEBHOOK_URLS or NOTIFICATIONS_FILE")
            row.status, row.tries, row.finished_at = "pending", 0, None
            row.next_at = datetime.now(UTC)
            return _view(row)


def _receiver(url: str) -> str:
    if receiver_name(url) is not None:
        return url
    address = urlsplit(url)
    host = f"[{address.hostname}]" if ":" in (address.hostname or "") else address.hostname
    port = f":{address.port}" if address.port else ""
    return f"{address.scheme}://{host}{port}"


def _view(row: WebhookDelivery) -> DeliveryView:
    return DeliveryView.model_validate(
        {
            "id": row.id,
            "run_id": row.run_id,
            "sequence": row.sequence,
            "event": row.event,
            "receiver": _receiver(row.url),
            "status": row.status,
            "tries": row.tries,
            "last_error": row.last_error,
            "next_at": row.next_at if row.status == "pending" else None,
            "created_at": row.created_at,
            "finished_at": row.finished_at,
        }
    )
