"""Checks regularly whether the owner of an open connection would still be let in."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import cast

from sqlalchemy.exc import SQLAlchemyError
from starlette.types import Scope

logger = logging.getLogger(__name__)

ASK_SECONDS = 2.0

_KEY = "phaserunner.standing"

Check = Callable[[str], Awaitable[bool]]
"""Says whether a token, or none when it is empty, lets in now."""

OnRevoked = Callable[[], None]
"""Called when a token is no longer valid."""


class RevokedError(Exception):
    """What an open connection was let in with is not valid any more."""


class Recheck:
    """Asks every two seconds, once for all connections with the same token; never while there are none."""

    def __init__(self, check: Check) -> None:
        self._check = check
        self._watched: dict[str, set[OnRevoked]] = {}
        self._asking: asyncio.Task[None] | None = None

    def grant(self, scope: Scope, token: str) -> None:
        """Note in the scope of a connection with what it was let in."""
        scope[_KEY] = (self, token)

    @contextmanager
    def watched(self, token: str, on_revoked: OnRevoked) -> Generator[None]:
        """Call `on_revoked`, perhaps more than once, when the token ceases to be valid within the block."""
        watching = self._watched.setdefault(token, set())
        watching.add(on_revoked)
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask())
        try:
            yield
        finally:
            watching.discard(on_revoked)
            if not watching:
                del self._watched[token]
            if not self._watched:
                self._stop_asking()

    def _stop_asking(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    async def _ask(self) -> None:
        while True:
            await asyncio.sleep(ASK_SECONDS)
            for token, watching in list(self._watched.items()):
                if not await self._holds(token):
                    for on_revoked in list(watching):
                        on_revoked()

    async def _holds(self, token: str) -> bool:
        try:
            return await self._check(token)
        except (SQLAlchemyError, OSError) as error:
            logger.warning("tokens of open connections cannot be checked, they are kept: %s", error)
            return True


def watched(scope: Scope, on_revoked: OnRevoked) -> AbstractContextManager[None]:
    """Call `on_revoked` when the connection would not be let in any more; never if nothing can be revoked."""
    if not is_watched(scope):
        return nullcontext()
    standing, token = cast("tuple[Recheck, str]", scope[_KEY])
    return standing.watched(token, on_revoked)


async def until_revoked(scope: Scope) -> None:
    """Wait until the connection would not be let in any more.

    Raises:
        RevokedError: its token was revoked, or tokens are needed by now and it has none.
    """
    revoked = asyncio.Event()
    with watched(scope, revoked.set):
        await revoked.wait()
    raise RevokedError("the token is no longer valid")


def is_watched(scope: Scope) -> bool:
    """True when the connection was let in by what can be revoked."""
    return _KEY in scope
