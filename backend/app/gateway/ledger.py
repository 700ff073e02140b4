"""The ports to the ledger, which keeps a line for each model request, and to the budgets."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from app.agents.gateway_port import RequestLabels
from app.gateway.prices import Cost
from app.gateway.usage_reading import Tokens

CLIENT_GONE = 499
"""Status of a request whose client went away before the end."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request to a model, as the ledger keeps it.

    Attributes:
        labels: what it belongs to.
        provider: who was asked.
        model: which model answered, else which was asked for.
        tokens: what the answer consumed, as far as it said.
        cost: of the answer.
        status: what the client got; 503 also for a stream that broke off, `CLIENT_GONE` if it did not wait.
        latency_ms: from the request to the end of the answer.
        at: when the request came.
    """

    labels: RequestLabels
    provider: str
    model: str
    tokens: Tokens
    cost: Cost
    status: int
    latency_ms: int
    at: datetime


class Ledger(Protocol):
    """Keeps model requests."""

    def record(self, request: ModelRequest) -> None:
        """Take a request without waiting; storing it is the ledger's business."""
        ...

    async def stored(self) -> None:
        """Wait until all requests that were taken so far are stored."""
        ...


class NoLedger:
    """Keeps nothing, where there is no database."""

    def record(self, request: ModelRequest) -> None:
        """Forget the request."""

    async def stored(self) -> None:
        """Return at once."""


class Budgets(Protocol):
    """Says whether a run may ask models."""

    async def spent(self, run_id: UUID | None) -> str | None:
        """Say which budget is spent and what to do, or return None while the run may ask."""
        ...


class NoBudgets:
    """Bounds nothing, where there is no database."""

    async def spent(self, run_id: UUID | None) -> str | None:
        """Return None."""
