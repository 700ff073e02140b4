"""Receives deliveries of forges: checks and records them at once, and handles them afterwards."""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, TypeVar, cast
from uuid import UUID

import anyio.to_thread
from sqlalchemy import delete

from app.core.credentials import Credentials
from app.core.errors import InvalidInputError, NotFoundError, UnauthorizedError, UnavailableError
from app.db.engine import Sessions
from app.db.models import ForgeDelivery
from app.forges.gitlab_deliveries import TOKEN_HEADER, is_from
from app.forges.large_deliveries import LARGE_BYTES, read_large
from app.forges.operator_file import ForgesFile
from app.forges.port import ForgeError
from app.forges.repositories import Members
from app.forges.signatures import HEADER, is_signed
from app.schemas.api.forges import DeliveryTaken
from app.services.chores.webhooks import pause_after
from app.services.forges.asks import Delivery, record_delivery
from app.services.forges.wishes import WishService
from app.services.record.leases import Leases

logger = logging.getLogger(__name__)

MAX_TRIES = 20
"""More than three days: then a request is too old, and a review has looked by itself."""

KEPT_FOR = timedelta(days=30)
"""Deliveries are deleted after this time; repetitions of older ones are refused because of their age."""

_BATCH = 10
_MAX_ID_CHARS = 200
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Taken:
    id: UUID
    forge: str
    event: str
    payload: dict[str, Any]
    digest: bytes
    received_at: datetime
    tries: int


class ForgeInbox:
    """Records signed deliveries.

    Args:
        sessions: opens transactions.
        file: the operator's file.
        credentials: read the secrets of the webhooks.
    """

    def __init__(self, sessions: Sessions, file: ForgesFile, credentials: Credentials) -> None:
        self._sessions = sessions
        self._file = file
        self._members = Members(file)
        self._credentials = credentials

    async def take(self, headers: Mapping[str, str], body: bytes | bytearray) -> DeliveryTaken:
        """Check and record a delivery of GitHub; a worker handles it later.

        The signature is checked before any part of the body is parsed.

        Raises:
            NotFoundError: no forge in the operator's file has a secret for deliveries.
            UnauthorizedError: the signature is missing or wrong.
            InvalidInputError: a header is missing, or the body is not a JSON object.
        """
        given = headers.get(HEADER.lower(), "")
        forge = await _aside(
            body, lambda: self._sender("github", lambda secret: is_signed(secret, body, given), HEADER)
        )
        delivery, event = headers.get("x-github-delivery", ""), headers.get("x-github-event", "")
        if not 0 < len(delivery) <= _MAX_ID_CHARS or not 0 < len(event) <= _MAX_ID_CHARS:
            raise InvalidInputError("X-GitHub-Delivery and X-GitHub-Event are required", field="headers")
        return await self._record(forge, delivery, event, body)

    async def take_gitlab(self, headers: Mapping[str, str], body: bytes | bytearray) -> DeliveryTaken:
        """Check and record a delivery of GitLab; a worker handles it later.

        Raises:
            NotFoundError, UnauthorizedError, InvalidInputError: as `take`.
        """
        given = headers.get(TOKEN_HEADER.lower(), "")
        forge = self._sender("gitlab", lambda secret: is_from(secret, given), TOKEN_HEADER)
        # The first header stays the same when GitLab repeats a delivery; old versions send only the second.
        delivery = headers.get("idempotency-key") or headers.get("x-gitlab-event-uuid", "")
        event = headers.get("x-gitlab-event", "")
        if not 0 < len(delivery) <= _MAX_ID_CHARS or not 0 < len(event) <= _MAX_ID_CHARS:
            raise InvalidInputError("X-Gitlab-Event-UUID and X-Gitlab-Event are required", field="headers")
        return await self._record(forge, delivery, event, body)

    async def _record(self, forge: str, delivery: str, event: str, body: bytes | bytearray) -> DeliveryTaken:
        digest, payload = await _aside(body, lambda: (sha256(body).digest(), _object(body)))
        given = Delivery(forge, delivery, event, digest, payload)
        is_new = await record_delivery(self._sessions, self._members, given)
        return DeliveryTaken(status="recorded" if is_new else "repeated")

    def _sender(self, kind: str, is_known: Callable[[str], bool], header: str) -> str:
        """Return the forge whose secret matches a delivery."""
        places = {name: each.webhook_secret for name, each in self._file.forges.items() if each.kind == kind}
        if not any(places.values()):
            raise NotFoundError(f"no forge of the kind {kind} in FORGES_FILE has a webhook_secret")
        for name, place in places.items():
            if place is not None and is_known(
                self._credentials.secret(place.place, f"the webhook_secret of {name!r}")
            ):
                return name
        raise UnauthorizedError(f"{header} does not match any webhook_secret in FORGES_FILE")


class ForgeDeliveryChore:
    """Handles the deliveries that wait.

    Args:
        sessions: opens short transactions.
        wishes: does what deliveries ask for.
    """

    def __init__(self, sessions: Sessions, wishes: WishService) -> None:
        self._sessions = sessions
        self._wishes = wishes
        self._leases = Leases(
            sessions=sessions,
            table=ForgeDelivery,
            due_at="next_at",
            make=_Taken,
            waits=(ForgeDelivery.status == "pending",),
            order="received_at",
            batch=_BATCH,
        )

    async def __call__(self) -> int:
        """Handle the deliveries that are due, and return how many were tried."""
        tried = await self._leases.work(self._attempt, self._postpone)
        if tried:
            async with self._sessions.begin() as session:
                old = ForgeDelivery.received_at < datetime.now(UTC) - KEPT_FOR
                await session.execute(delete(ForgeDelivery).where(old))
        return tried

    async def _attempt(self, taken: _Taken) -> None:
        trigger = f"{taken.forge}:{taken.digest.hex()}"
        try:
            done = await self._wishes.fulfil(
                taken.forge, taken.event, taken.payload, trigger, received_at=taken.received_at
            )
        except (ForgeError, UnavailableError) as error:
            await self._postpone(taken, str(error), error.retry_at if isinstance(error, ForgeError) else None)
        else:
            status = "done" if done.acted else "ignored"
            logger.info(
                "delivery %s of %s (%s): %s: %s", taken.id, taken.forge, taken.event, status, done.text
            )
            await self._record(
                taken, {"status": status, "result": done.text, "finished_at": datetime.now(UTC)}
            )

    async def _postpone(self, taken: _Taken, why: str, retry_at: datetime | None = None) -> None:
        now = datetime.now(UTC)
        if taken.tries >= MAX_TRIES:
            logger.error("delivery %s failed for good: %s", taken.id, why)
            await self._record(taken, {"status": "failed", "result": why, "finished_at": now})
            return
        at = retry_at or now + timedelta(seconds=pause_after(taken.tries))
        await self._record(taken, {"next_at": at, "result": why})

    async def _record(self, taken: _Taken, values: dict[str, Any]) -> None:
        await self._leases.record(taken.id, taken.tries, values, ForgeDelivery.status == "pending")


async def _aside(body: bytes | bytearray, work: Callable[[], _T]) -> _T:
    """Run work on a body; for large bodies in a thread, so that other requests continue meanwhile."""
    return await anyio.to_thread.run_sync(work) if len(body) > LARGE_BYTES else work()


def _object(body: bytes | bytearray) -> dict[str, Any]:
    try:
        found: object = read_large(body) if len(body) > LARGE_BYTES else json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            "the body is not JSON; set the webhook's content type to application/json", field="body"
        ) from error
    if not isinstance(found, dict):
        raise InvalidInputError("the body is not a JSON object", field="body")
    return cast("dict[str, Any]", found)
