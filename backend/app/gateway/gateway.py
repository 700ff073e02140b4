"""The model gateway: opens an endpoint for each agent at work, and keeps the keys."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx
from genai_prices.data_snapshot import get_snapshot

from app.agents.gateway_port import Dialect, GatewayFailure, GatewayGrant
from app.agents.models.providers import MissingKeyError
from app.agents.port import AgentUsage
from app.core.certificates import trusted_authorities
from app.core.telemetry import current_traceparent
from app.gateway.account import EndpointUsage
from app.gateway.asking import Asker, RetryRules
from app.gateway.calls import ModelCalls, RelayParts
from app.gateway.ledger import Budgets, Ledger, NoBudgets
from app.gateway.prices import Prices
from app.gateway.relay import Relay
from app.gateway.serving import Address, serve_on_loopback, serve_on_socket
from app.gateway.upstreams import KEY_VARIABLES, Upstream

_CONNECT_SECONDS = 10.0
_WRITE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class OpenEndpoint:
    """One open endpoint. `app.agents.gateway_port.GatewayEndpoint` documents its members."""

    address: Address
    token: str
    account: EndpointUsage

    @property
    def socket(self) -> Path | None:
        """The unix socket for a confined agent."""
        return self.address.socket

    @property
    def url(self) -> str | None:
        """The address for an agent that is not confined."""
        return self.address.url

    @property
    def last_activity(self) -> float:
        """Time of the last request or part of an answer, in seconds of `time.monotonic`."""
        return self.account.last_activity

    def usage(self) -> AgentUsage:
        """Return the consumption of the requests so far."""
        return self.account.usage()

    def failure(self) -> GatewayFailure | None:
        """Return why the last request failed, or None if it succeeded."""
        return self.account.failure


class ModelGateway:
    """Relays agents' model requests to the providers. `async with` closes its connections at the end.

    Args:
        upstreams: the configured providers.
        prices: the cost of requests.
        ledger: stores each request.
        budgets: checked before each request; None means no budget.
        retry: when a refused request is sent again.
        silence_seconds: how long a provider may send nothing before a request counts as failed.
        now: returns the time.
    """

    def __init__(
        self,
        upstreams: Mapping[Dialect, Upstream],
        prices: Prices,
        ledger: Ledger,
        *,
        budgets: Budgets | None = None,
        retry: RetryRules | None = None,
        silence_seconds: float = 300.0,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._upstreams = upstreams
        self._parts = RelayParts(prices, ledger, budgets or NoBudgets(), time.monotonic, now)
        self._retry = retry or RetryRules()
        self._silence = silence_seconds
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        """Return the gateway itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the connections to the providers."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    @asynccontextmanager
    async def open(self, grant: GatewayGrant) -> AsyncGenerator[OpenEndpoint]:
        """Serve one agent while the block runs. Leaving the block ends all connections.

        Raises:
            MissingKeyError: the dialect's provider is not configured. The message says what to set.
            OSError: the socket cannot be created.
        """
        upstream = self._upstreams.get(grant.dialect)
        if upstream is None:
            variable = KEY_VARIABLES[grant.dialect]
            raise MissingKeyError(
                f"No key for agents that speak {grant.dialect}: set {variable}", field=variable
            )
        client = await self._connected()
        token = f"pr-{secrets.token_urlsafe(32)}"
        account = EndpointUsage(grant.limits, self._parts.clock)
        asker = Asker(client, upstream, self._retry, self._parts.now)
        relay = Relay(ModelCalls(grant, asker, account, self._parts, current_traceparent()), token)
        serving = serve_on_socket(relay, grant.owner) if grant.confined else serve_on_loopback(relay)
        async with serving as address:
            yield OpenEndpoint(address, token, account)

    async def _connected(self) -> httpx.AsyncClient:
        if self._client is None:
            # In a thread, because it reads certificates and the price table from files.
            made = await asyncio.to_thread(self._make_client)
            if self._client is None:
                self._client = made
        return self._client

    def _make_client(self) -> httpx.AsyncClient:
        get_snapshot()
        timeout = httpx.Timeout(self._silence, connect=_CONNECT_SECONDS, write=_WRITE_SECONDS, pool=None)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
        return httpx.AsyncClient(timeout=timeout, limits=limits, verify=trusted_authorities())
