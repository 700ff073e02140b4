"""Regularly checks whether the owner of an open connection would still be admitted."""

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
"""Returns whether a token is valid now; an empty one stands for a connection without a token."""

OnRevoked = Callable[[], None]
"""Called when a token is no longer valid."""


class RevokedError(Exception):
    """The token or rule that admitted an open connection is no longer valid."""


class Recheck:
    """Checks every two seconds, once for all connections with the same token; never without connections."""

    def __init__(self, check: Check) -> None:
        self._check = check
        self._watched: dict[str, set[OnRevoked]] = {}
        self._asking: asyncio.Task[None] | None = None

    def grant(self, scope: Scope, token: str) -> None:
        """Record in a connection's scope the token with which it was admitted."""
        scope[_KEY] = (self, token)

    @contextmanager
    def watched(self, token: str, on_revoked: OnRevoked) -> Generator[None]:
        """Call `on_revoked`, perhaps repeatedly, if the token becomes invalid within the block."""
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
            logger.warning("cannot check the tokens of open connections, keeping them open: %s", error)
            return True


def watched(scope: Scope, on_revoked: OnRevoked) -> AbstractContextManager[None]:
    """Call `on_revoked` when the connection would no longer be admitted; never if nothing can be revoked."""
    if not is_watched(scope):
        return nullcontext()
    standing, token = cast("tuple[Recheck, str]", scope[_KEY])
    return standing.watched(token, on_revoked)


async def until_revoked(scope: Scope) -> None:
    """Wait until the connection would no longer be admitted.

    Raises:
        RevokedError: its token was revoked, or it has none and tokens are now needed.
    """
    revoked = asyncio.Event()
    with watched(scope, revoked.set):
        await revoked.wait()
    raise RevokedError("the token is no longer valid")


def is_watched(scope: Scope) -> bool:
    """Return whether the connection was admitted by something that can be revoked."""
    return _KEY in scope
