"""One request to a model while it is relayed: what is known of it for the ledger and for traces."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import logfire

from app.agents.gateway_port import RequestLabels
from app.gateway.ledger import CLIENT_GONE, ModelRequest
from app.gateway.prices import Cost
from app.gateway.requests import ModelCall
from app.gateway.usage_reading import Consumption


@dataclass(slots=True)
class Work:
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


def open_span(work: Work, labels: RequestLabels, provider: str) -> logfire.LogfireSpan:
    """Return a span with the names of OpenTelemetry's conventions for generative AI; it holds no content."""
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": work.call.model,
        "role": labels.role.value,
        "run_id": str(labels.run_id) if labels.run_id else None,
        "phase": labels.phase,
        "attempt": labels.attempt,
        "candidate": labels.candidate,
    }
    known = {name: value for name, value in attributes.items() if value is not None}
    return logfire.span("chat {model}", model=work.call.model, **known)


def describe(span: logfire.LogfireSpan, work: Work) -> None:
    """Write into a span what became of a request."""
    tokens = work.consumption.tokens
    found = {
        "http.response.status_code": work.status,
        "error.type": str(work.status) if work.status >= 400 else None,
        "gen_ai.response.model": work.consumption.model,
        "gen_ai.usage.input_tokens": tokens.input,
        "gen_ai.usage.output_tokens": tokens.output,
        "gen_ai.usage.cache_read.input_tokens": tokens.cache_read,
    }
    for name, value in found.items():
        if value is not None:
            span.set_attribute(name, value)
