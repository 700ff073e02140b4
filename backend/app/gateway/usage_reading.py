"""Reads an answer's consumption in each dialect. Implausible values count as missing."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from app.agents.gateway_port import Dialect

_MOST_TOKENS = 10**12
"""No provider means more than that, and a larger number would not fit the ledger."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one answer; None is unknown. `input` includes the cached ones, `output` the reasoning."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None

    @property
    def total(self) -> int:
        """Input and output together, as far as they are known."""
        return (self.input or 0) + (self.output or 0)


@dataclass(frozen=True, slots=True)
class Consumption:
    """What an answer reports about itself.

    Attributes:
        model: the model that really answered.
        tokens: what it consumed.
        billed: US dollars that the provider says it charges.
    """

    model: str | None = None
    tokens: Tokens = Tokens()
    billed: Decimal | None = None


def read_answer(dialect: Dialect, answer: Mapping[str, Any]) -> Consumption:
    """Read one complete answer, or the last part of a stream."""
    match dialect:
        case Dialect.OPENAI_CHAT:
            return _openai(answer, "prompt", "completion")
        case Dialect.OPENAI_RESPONSES:
            return _openai(member(answer, "response") or answer, "input", "output")
        case Dialect.ANTHROPIC:
            message = member(answer, "message") or answer
            usage = {**member(message, "usage"), **member(answer, "usage")}
            return Consumption(_text(message.get("model")), anthropic_tokens(usage))
        case Dialect.GEMINI:
            usage = member(answer, "usageMetadata")
            return Consumption(_text(answer.get("modelVersion")), _gemini_tokens(usage))


def anthropic_tokens(usage: Mapping[str, Any]) -> Tokens:
    """Read Anthropic's usage. Its input tokens do not include the cached ones."""
    fresh, written, read = (
        _count(usage.get(name))
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )
    whole = None if fresh is None else fresh + (written or 0) + (read or 0)
    return Tokens(whole, _count(usage.get("output_tokens")), read, written)


def _openai(answer: Mapping[str, Any], name_of_input: str, name_of_output: str) -> Consumption:
    usage = member(answer, "usage")
    details = member(usage, f"{name_of_input}_tokens_details")
    tokens = Tokens(
        _count(usage.get(f"{name_of_input}_tokens")),
        _count(usage.get(f"{name_of_output}_tokens")),
        _count(details.get("cached_tokens")),
    )
    return Consumption(_text(answer.get("model")), tokens, _dollars(usage.get("cost")))


def _gemini_tokens(usage: Mapping[str, Any]) -> Tokens:
    return Tokens(
        _sum(usage, "promptTokenCount", "toolUsePromptTokenCount"),
        _sum(usage, "candidatesTokenCount", "thoughtsTokenCount"),
        _count(usage.get("cachedContentTokenCount")),
    )


def _sum(usage: Mapping[str, Any], *names: str) -> int | None:
    known = [count for name in names if (count := _count(usage.get(name))) is not None]
    return sum(known) if known else None


def member(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object inside another, or an empty one if it is missing or something else."""
    value: object = content.get(name)
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None


def _text(value: object) -> str | None:
    return value[:200] if isinstance(value, str) and value else None


def _dollars(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return Decimal(str(value)) if 0 <= value < 10**6 else None
