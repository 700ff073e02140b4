"""One span for each request to a model, with the figures of its ledger line and without content."""

from contextlib import AbstractContextManager

from opentelemetry.trace import Span

from app.agents.gateway_port import RequestLabels
from app.core import tracing
from app.gateway.ledger import ModelRequest

_ANSWERED = 200


def open_span(model: str, labels: RequestLabels, provider: str) -> AbstractContextManager[Span]:
    """Return a span with the names of OpenTelemetry's conventions for generative AI.

    Args:
        model: the requested model.
        labels: the run, phase and attempt of the request.
        provider: the provider that is asked.
    """
    attributes: dict[str, str | int | None] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "role": labels.role.value,
        "run_id": str(labels.run_id) if labels.run_id else None,
        "phase": labels.phase,
        "attempt": labels.attempt,
        "candidate": labels.candidate,
    }
    return tracing.open_span(f"chat {model}", **attributes)


def describe(span: Span, request: ModelRequest) -> None:
    """Write the outcome of a request into its span.

    The conventions have no name for the cost. `operation.cost` is the name that Logfire adds up.
    """
    tokens, cost = request.tokens, request.cost
    found = {
        "http.response.status_code": request.status,
        "error.type": str(request.status) if request.status >= 400 else None,
        "gen_ai.response.model": request.model if request.status == _ANSWERED else None,
        "gen_ai.usage.input_tokens": tokens.input,
        "gen_ai.usage.output_tokens": tokens.output,
        "gen_ai.usage.cache_read.input_tokens": tokens.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": tokens.cache_write,
        "operation.cost": float(cost.dollars) if cost.dollars is not None else None,
        "cost_kind": cost.kind.value,
    }
    for name, value in found.items():
        if value is not None:
            span.set_attribute(name, value)
