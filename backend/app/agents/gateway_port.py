"""The port to the model gateway: an agent gets an address and a token, and the gateway keeps the key."""

from collections.abc import Generator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol
from uuid import UUID

from app.agents.port import AgentLimits, AgentUsage, FailureKind
from app.schemas.runs import ModelRole


class Dialect(StrEnum):
    """The HTTP interface of a model provider. The gateway never translates one into another."""

    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


VENDOR_LOGIN = "vendor-login"
"""The provider of agents that ask their vendor past the gateway."""

BASE_PATHS: Mapping[Dialect, str] = MappingProxyType(
    {
        Dialect.OPENAI_CHAT: "/v1",
        Dialect.OPENAI_RESPONSES: "/v1",
        Dialect.ANTHROPIC: "",
        Dialect.GEMINI: "",
    }
)
"""What a client's base URL ends with, after the address of the endpoint."""


@dataclass(frozen=True, slots=True)
class RequestLabels:
    """What a model request belongs to; the ledger stores it. `candidate` counts from 0, `attempt` from 1."""

    run_id: UUID | None = None
    phase: str | None = None
    attempt: int | None = None
    candidate: int | None = None
    role: ModelRole = ModelRole.AGENT


_labels: ContextVar[RequestLabels | None] = ContextVar("request_labels", default=None)


def current_labels() -> RequestLabels:
    """Return what model requests belong to here, as the blocks of `labelled` around this code say."""
    return _labels.get() or RequestLabels()


@contextmanager
def labelled(labels: RequestLabels) -> Generator[None]:
    """Say what the model requests of the block belong to, those of tasks that it starts included."""
    token = _labels.set(labels)
    try:
        yield
    finally:
        _labels.reset(token)


@dataclass(frozen=True, slots=True)
class GatewayGrant:
    """What one agent may ask of the gateway.

    Attributes:
        dialect: the only one that the endpoint speaks.
        models: names that the agent may ask for; `*` stands for any characters. Empty allows none.
        limits: bounds on all requests through the endpoint; the gateway checks them before each request.
        labels: what the requests belong to.
        owner: number of the user that may connect to the socket; None is this process's user.
        confined: the agent runs in the sandbox and connects to a unix socket. Otherwise the endpoint listens
            on a port of 127.0.0.1.
    """

    dialect: Dialect
    models: tuple[str, ...]
    limits: AgentLimits = field(default_factory=AgentLimits)
    labels: RequestLabels = field(default_factory=RequestLabels)
    owner: int | None = None
    confined: bool = True


class GatewayFailure(NamedTuple):
    """Why model requests fail. `retry_at` is when the provider says that its limit ends."""

    kind: FailureKind
    message: str
    retry_at: datetime | None = None


class GatewayEndpoint(Protocol):
    """One open way to the models, for one agent at work."""

    @property
    def socket(self) -> Path | None:
        """The unix socket, where the agent is confined; it speaks plain HTTP."""
        ...

    @property
    def url(self) -> str | None:
        """`http://127.0.0.1:PORT`, where the agent is not confined. `BASE_PATHS` says what follows."""
        ...

    @property
    def token(self) -> str:
        """Stands in place of the provider's key."""
        ...

    @property
    def last_activity(self) -> float:
        """When the last request or piece of an answer came, in seconds of `time.monotonic`."""
        ...

    def usage(self) -> AgentUsage:
        """Return what the requests so far consumed; the cost is None while no cost is known."""
        ...

    def failure(self) -> GatewayFailure | None:
        """Return why the last request failed; None after one that succeeded."""
        ...


class Gateway(Protocol):
    """Opens endpoints."""

    def open(self, grant: GatewayGrant) -> AbstractAsyncContextManager[GatewayEndpoint]:
        """Serve one agent while the block runs; leaving it ends all connections.

        Raises:
            ModelConfigurationError: the dialect's provider is not configured; the message says what to set.
            OSError: the socket cannot be made.
        """
        ...
