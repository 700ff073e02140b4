"""One model request while it is relayed, with its figures for the ledger."""

from dataclasses import dataclass, field
from datetime import datetime

from app.agents.gateway_port import RequestLabels
from app.gateway.ledger import CLIENT_GONE, ModelRequest
from app.gateway.prices import Cost
from app.gateway.requests import ModelCall
from app.gateway.usage_reading import Consumption


@dataclass(slots=True)
class RelayedRequest:
    """A request in progress.

    Attributes:
        number: its number in the account.
        call: the request.
        at: when it arrived.
        begun: the same, in seconds of the monotonic clock.
        status: the client's status so far.
        consumption: what the answer has reported so far.
        cost: cost of that consumption.
    """

    number: int
    call: ModelCall
    at: datetime
    begun: float
    status: int = CLIENT_GONE
    consumption: Consumption = field(default_factory=Consumption)
    cost: Cost = field(default_factory=Cost)

    def line(self, labels: RequestLabels, provider: str, ended: float) -> ModelRequest:
        """Return the request as a ledger line. `ended` is in seconds of the monotonic clock."""
        return ModelRequest(
            labels=labels,
            provider=provider,
            model=self.consumption.model or self.call.model,
            tokens=self.consumption.tokens,
            cost=self.cost,
            status=self.status,
            latency_ms=round((ended - self.begun) * 1000),
            at=self.at,
        )
