"""Models that share one TLS context, because reading the certificates takes longer than a request.

The SDK creates a client for each model, and a new one each time that a model is used again. Each client reads
the certificates, which takes about 45 ms of processor time and blocks the event loop.
"""

import ssl
from collections.abc import Callable
from functools import cache
from types import TracebackType
from typing import Self

import httpx2
from pydantic_ai.models import Model, get_user_agent
from pydantic_ai.models.wrapper import WrapperModel

_SECONDS = 600.0
_CONNECT_SECONDS = 5.0
_LIMITS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)

MakeModel = Callable[[httpx2.AsyncClient], Model]
"""Makes a model that sends its requests through a client."""


class ConnectedModel(WrapperModel):
    """A model that is connected while entered. It can be entered again, and by several tasks at once.

    Args:
        make: makes the model.
    """

    def __init__(self, make: MakeModel) -> None:
        self._make = make
        self._client = _new_client()
        self._users = 0
        super().__init__(make(self._client))

    async def __aenter__(self) -> Self:
        """Connect again if the last user closed the connections."""
        if self._client.is_closed:
            self._client = _new_client()
            self.wrapped = self._make(self._client)
        self._users += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        """Close the connections if this was the last user."""
        self._users -= 1
        if not self._users:
            await self._client.aclose()


@cache
def trusted() -> ssl.SSLContext:
    """Return the certificates that this process trusts, from the environment at the first call."""
    return httpx2.create_ssl_context()


def _new_client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        verify=trusted(),
        timeout=httpx2.Timeout(_SECONDS, connect=_CONNECT_SECONDS),
        limits=_LIMITS,
        headers={"User-Agent": get_user_agent()},
    )
