"""Gives a repeated POST the answer of the first one."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import ConflictError, InvalidInputError
from app.db.engine import Sessions
from app.db.models import IdempotencyKey

MAX_KEY_CHARS = 200

Act = Callable[[], Awaitable[tuple[int, dict[str, Any]]]]
"""Does what is asked; gives the HTTP status and the body of the answer."""


class IdempotencyService:
    """Keeps the answers of successful POSTs by their key."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def once(self, key: str | None, route: str, request: bytes, act: Act) -> tuple[int, dict[str, Any]]:
        """Act, unless the key was used before: then give the answer of that time.

        Repetitions that arrive at the same time wait for the first. Failures are not kept.

        Raises:
            InvalidInputError: the key is empty, too long or not printable.
            ConflictError: the key was used with another request.
        """
        if key is None:
            return await act()
        if not 0 < len(key) <= MAX_KEY_CHARS or not key.isprintable():
            raise InvalidInputError(f"1 to {MAX_KEY_CHARS} printable characters", field="Idempotency-Key")
        digest = hashlib.sha256(request).digest()
        async with self._sessions.begin() as session:
            await _lock(session, route, key)
            known = await _find(session, route, key)
            if known is not None:
                if known.request_digest != digest:
                    raise ConflictError(
                        "this key was used with another request; use a new one", field="Idempotency-Key"
                    )
                return known.status, known.body
            status, body = await act()
            session.add(IdempotencyKey(key=key, route=route, request_digest=digest, status=status, body=body))
        return status, body


async def _lock(session: AsyncSession, route: str, key: str) -> None:
    digest = hashlib.sha256(f"{route}\0{key}".encode()).digest()
    number = int.from_bytes(digest[:8], "big", signed=True)
    await session.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})


async def _find(session: AsyncSession, route: str, key: str) -> IdempotencyKey | None:
    statement = select(IdempotencyKey).where(IdempotencyKey.route == route, IdempotencyKey.key == key)
    return (await session.execute(statement)).scalar_one_or_none()
