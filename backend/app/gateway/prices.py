"""What requests cost: what the provider billed, else the list price of the model that answered."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Protocol

from genai_prices import Usage, calc_price

from app.gateway.upstreams import Upstream
from app.gateway.usage_reading import Consumption, Tokens

_EXACT = Decimal("0.00000001")


class CostKind(StrEnum):
    """Where a cost comes from: the provider's own figure, the list price, or nowhere."""

    BILLED = "billed"
    COMPUTED = "computed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars, and where the figure comes from; None is unknown, which is not zero."""

    dollars: Decimal | None = None
    kind: CostKind = CostKind.UNKNOWN


class Prices(Protocol):
    """A table of prices."""

    def price(self, upstream: Upstream, model: str, tokens: Tokens) -> Decimal | None:
        """Return US dollars, or None without a price for the model."""
        ...


class ListPrices:
    """The list prices that the built-in agent counts with, too."""

    def price(self, upstream: Upstream, model: str, tokens: Tokens) -> Decimal | None:
        """Return US dollars, or None without a price for the model."""
        used = Usage(
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cache_read_tokens=tokens.cache_read,
            cache_write_tokens=tokens.cache_write,
        )
        try:
            return calc_price(used, model, provider_api_url=upstream.base_url).total_price
        except (LookupError, ValueError):
            pass  # another server's address: its models may still be a known provider's
        try:
            return calc_price(used, model, provider_id=upstream.price_id).total_price
        except (LookupError, ValueError):
            return None


def cost_of(prices: Prices, upstream: Upstream, asked: str, consumption: Consumption) -> Cost:
    """Return what an answer cost.

    Args:
        prices: the table.
        upstream: who answered.
        asked: the model that was asked for; it counts where the answer names none.
        consumption: what the answer says of itself.
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
