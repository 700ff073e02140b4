"""Determines the cost of requests: the provider's own figure, or the answering model's list price."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Protocol

from genai_prices import Usage, calc_price

from app.gateway.upstreams import Upstream
from app.gateway.usage_reading import Consumption, Tokens

_EXACT = Decimal("0.00000001")


class CostKind(StrEnum):
    """The origin of a cost: the provider's own figure, the list price, or none."""

    BILLED = "billed"
    COMPUTED = "computed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Cost:
    """A cost in US dollars with its origin. None is unknown, which is not zero."""

    dollars: Decimal | None = None
    kind: CostKind = CostKind.UNKNOWN


class Prices(Protocol):
    """A table of prices."""

    def price(self, upstream: Upstream, model: str, tokens: Tokens) -> Decimal | None:
        """Return US dollars, or None if the model has no known price."""
        ...


class ListPrices:
    """The list prices that the built-in agent uses, too."""

    def price(self, upstream: Upstream, model: str, tokens: Tokens) -> Decimal | None:
        """Return US dollars, or None if the model has no known price."""
        used = Usage(
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cache_read_tokens=tokens.cache_read,
            cache_write_tokens=tokens.cache_write,
        )
        try:
            return calc_price(used, model, provider_api_url=upstream.base_url).total_price
        except (LookupError, ValueError):
            pass  # another server's address, but its models may still belong to a known provider
        try:
            return calc_price(used, model, provider_id=upstream.price_id).total_price
        except (LookupError, ValueError):
            return None


def cost_of(prices: Prices, upstream: Upstream, asked: str, consumption: Consumption) -> Cost:
    """Return the cost of an answer.

    Args:
        prices: the table.
        upstream: the provider that answered.
        asked: the requested model; used if the answer does not name one.
        consumption: what the answer reports.
    """
    if consumption.billed is not None:
        return Cost(consumption.billed.quantize(_EXACT), CostKind.BILLED)
    tokens = consumption.tokens
    if tokens.input is None or tokens.output is None:
        return Cost()
    for model in dict.fromkeys((consumption.model or asked, asked)):
        dollars = prices.price(upstream, model, tokens)
        if dollars is not None:
            return Cost(dollars.quantize(_EXACT), CostKind.COMPUTED)
    return Cost()
