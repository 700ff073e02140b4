"""One request to a model while it is relayed: what is known of it for the ledger."""

from dataclasses import dataclass, field
from datetime import datetime

from app.agents.gateway_port import RequestLabels
from app.gateway.ledger import CLIENT_GONE, ModelRequest
from app.gateway.prices import Cost
from app.gateway.requests import ModelCall
from app.gateway.usage_reading import Consumption


@dataclass(slots=True)
class RelayedRequest:
    """A request on its way.

    Attributes:
        number: in the account.
        call: what was asked.
        at: when it came.
        begun: the same, in seconds of the monotonic clock.
        status: what the client got, so far.
        consumption: what the answer said of itself, so far.
        cost: of that.
    """

    number: int
    call: ModelCall
    at: datetime
    begun: float
    status: int = CLIENT_GONE
    consumption: Consumption = field(default_factory=Consumption)
    cost: Cost = field(default_factory=Cost)

    def line(self, labels: RequestLabels, provider: str, ended: float) -> ModelRequest:
        """Return what the ledger keeps; `ended` is in seconds of the monotonic clock."""
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
