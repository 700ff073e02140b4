"""The ports to the ledger, which stores a line for each model request, and to the budgets."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from app.agents.gateway_port import RequestLabels
from app.gateway.prices import Cost
from app.gateway.usage_reading import Tokens

CLIENT_GONE = 499
"""Status of a request if its client disconnected before the end."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request to a model, as the ledger stores it.

    Attributes:
        labels: the run, phase and attempt of the request.
        provider: the provider that was asked.
        model: the model that answered, or else the requested one.
        tokens: consumption of the answer, as far as the answer reports it.
        cost: of the answer.
        status: the client's status; 503 also for an interrupted stream, `CLIENT_GONE` if the client did not
            wait.
        latency_ms: from the request to the end of the answer.
        at: when the request arrived.
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
    """Stores model requests."""

    def record(self, request: ModelRequest) -> None:
        """Accept a request without waiting. The ledger stores it later."""
        ...

    async def stored(self) -> None:
        """Wait until all requests accepted so far are stored."""
        ...


class NoLedger:
    """Stores nothing. Used where there is no database."""

    def record(self, request: ModelRequest) -> None:
        """Drop the request."""

    async def stored(self) -> None:
        """Return at once."""


class Budgets(Protocol):
    """Decides whether a run may ask models."""

    async def spent(self, run_id: UUID | None) -> str | None:
        """Return which budget is spent and what to do, or None if the run may ask."""
        ...


class NoBudgets:
    """Sets no limit. Used where there is no database."""

    async def spent(self, run_id: UUID | None) -> str | None:
        """Return None."""
