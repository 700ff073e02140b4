"""Answers a repeated POST with the response to the first one.

The response is stored in the transaction that carries out the request. After a crash either both are stored
or neither, and exactly one of several simultaneous repetitions takes effect.
"""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pydantic import BaseModel
from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import ConflictError, InvalidInputError
from app.db.engine import Sessions
from app.db.models import IdempotencyKey

MAX_KEY_CHARS = 200
KEPT_FOR = timedelta(days=7)

_FIELD = "Idempotency-Key"


@dataclass(frozen=True, slots=True)
class Reply:
    """The response to a POST: HTTP status and body; `repeated` if it was stored by an earlier request."""

    status: int
    body: dict[str, Any]
    repeated: bool = False


class ReplayError(Exception):
    """The request already took effect; carries the response of that time."""

    def __init__(self, reply: Reply) -> None:
        super().__init__("the request already took effect")
        self.reply = reply


@dataclass(frozen=True, slots=True)
class Once:
    """A request that takes effect once. Without a key, every request counts as a new one.

    Attributes:
        key: chosen by the client.
        route: the route of the request; the same key on another route identifies another request.
        digest: covers everything else that identifies the request.
        status: the HTTP status of a success.
    """

    key: str | None = None
    route: str = ""
    digest: bytes = b""
    status: int = 200

    async def claim(self, session: AsyncSession) -> None:
        """Claim the key as the first step of the transaction; wait while another transaction holds it.

        Raises:
            ReplayError: the request has taken effect in the meantime.
            ConflictError: the key belongs to another request.
        """
        if self.key is None:
            return
        claimed = await session.scalar(
            insert(IdempotencyKey)
            .values(key=self.key, route=self.route, request_digest=self.digest, status=0, body={})
            .on_conflict_do_nothing()
            .returning(IdempotencyKey.key)
        )
        if claimed is None and (stored := await self.stored(session)):
            raise ReplayError(stored)

    async def keep(self, session: AsyncSession, view: BaseModel) -> None:
        """Store the response as the last step of the same transaction."""
        if self.key is None:
            return
        mine = (IdempotencyKey.key == self.key, IdempotencyKey.route == self.route)
        body = view.model_dump(mode="json")
        await session.execute(update(IdempotencyKey).where(*mine).values(status=self.status, body=body))

    async def stored(self, session: AsyncSession) -> Reply | None:
        """Return the stored response, or None.

        Raises:
            ConflictError: the key belongs to another request.
        """
        mine = (IdempotencyKey.key == self.key, IdempotencyKey.route == self.route)
        found = (await session.execute(select(IdempotencyKey).where(*mine))).scalar_one_or_none()
        if found is None:
            return None
        if found.request_digest != self.digest:
            raise ConflictError("this key was used with another request; use a new one", field=_FIELD)
        return Reply(found.status, found.body, repeated=True)


UNKEYED = Once()
"""For callers whose requests are never repeated by accident."""

Act = Callable[[Once], Awaitable[BaseModel]]
"""Carries out a request, with its key and its response stored in the same transaction; returns the view."""


class IdempotencyService:
    """Finds the responses to successful POSTs by their keys; failures are not stored."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def once(self, once: Once, act: Act) -> Reply:
        """Carry out the request, or return its stored response if it already took effect.

        Raises:
            InvalidInputError: the key is empty, too long or not printable.
            ConflictError: the key was used with another request.
        """
        if once.key is not None:
            if not 0 < len(once.key) <= MAX_KEY_CHARS or not once.key.isprintable():
                raise InvalidInputError(f"give 1 to {MAX_KEY_CHARS} printable characters", field=_FIELD)
            async with self._sessions() as session:
                stored = await once.stored(session)
            if stored is not None:
                return stored
        try:
            view = await act(once)
        except ReplayError as before:
            return before.reply
        return Reply(once.status, view.model_dump(mode="json"))


def digest_of_request(actor: str, body: bytes) -> bytes:
    """Return a digest that is equal for equal requests to a route: same actor and same bytes."""
    return hashlib.sha256(actor.encode() + b"\0" + body).digest()
