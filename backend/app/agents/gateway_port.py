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
"""The provider of agents that ask their vendor directly, without the gateway."""

BASE_PATHS: Mapping[Dialect, str] = MappingProxyType(
    {
        Dialect.OPENAI_CHAT: "/v1",
        Dialect.OPENAI_RESPONSES: "/v1",
        Dialect.ANTHROPIC: "",
        Dialect.GEMINI: "",
    }
)
"""The end of a client's base URL, after the endpoint's address."""


@dataclass(frozen=True, slots=True)
class RequestLabels:
    """The run, phase and attempt of a model request, for the ledger.

    `candidate` counts from 0, `attempt` from 1.
    """

    run_id: UUID | None = None
    phase: str | None = None
    attempt: int | None = None
    candidate: int | None = None
    role: ModelRole = ModelRole.AGENT


_labels: ContextVar[RequestLabels | None] = ContextVar("request_labels", default=None)


def current_labels() -> RequestLabels:
    """Return the labels of model requests made here, from the blocks of `labelled` around this code."""
    return _labels.get() or RequestLabels()


@contextmanager
def labelled(labels: RequestLabels) -> Generator[None]:
    """Set the labels of the model requests in the block, including those of tasks that it starts."""
    token = _labels.set(labels)
    try:
        yield
    finally:
        _labels.reset(token)


@dataclass(frozen=True, slots=True)
class GatewayGrant:
    """What one agent may ask of the gateway.

    Attributes:
        dialect: the only one that the endpoint accepts.
        models: names that the agent may ask for; `*` stands for any characters. Empty allows none.
        limits: limits on all requests through the endpoint. The gateway checks them before each request.
        labels: the labels of the requests.
        owner: number of the user that may connect to the socket; None is this process's user.
        confined: True if the agent runs in the sandbox and connects to a unix socket. Otherwise the endpoint
            listens on a port of 127.0.0.1.
    """

    dialect: Dialect
    models: tuple[str, ...]
    limits: AgentLimits = field(default_factory=AgentLimits)
    labels: RequestLabels = field(default_factory=RequestLabels)
    owner: int | None = None
    confined: bool = True


class GatewayFailure(NamedTuple):
    """Why model requests fail. `retry_at` is when the provider's limit ends, if it says so."""

    kind: FailureKind
    message: str
    retry_at: datetime | None = None


class GatewayEndpoint(Protocol):
    """Access to the models for one agent at work."""

    @property
    def socket(self) -> Path | None:
        """The unix socket, if the agent is confined. It uses plain HTTP."""
        ...

    @property
    def url(self) -> str | None:
        """`http://127.0.0.1:PORT`, if the agent is not confined. Clients append a path of `BASE_PATHS`."""
        ...

    @property
    def token(self) -> str:
        """The token that replaces the provider's key."""
        ...

    @property
    def last_activity(self) -> float:
        """Time of the last request or part of an answer, in seconds of `time.monotonic`."""
        ...

    def usage(self) -> AgentUsage:
        """Return the consumption of the requests so far. The cost is None while no cost is known."""
        ...

    def failure(self) -> GatewayFailure | None:
        """Return why the last request failed, or None if it succeeded."""
        ...


class Gateway(Protocol):
    """Opens endpoints."""

    def open(self, grant: GatewayGrant) -> AbstractAsyncContextManager[GatewayEndpoint]:
        """Serve one agent while the block runs. Leaving the block ends all connections.

        Raises:
            ModelConfigurationError: the dialect's provider is not configured. The message says what to set.
            OSError: the socket cannot be created.
        """
        ...
