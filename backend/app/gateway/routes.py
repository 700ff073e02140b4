"""Determines what a request's path asks for. Paths that are not listed here are not relayed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from urllib.parse import parse_qsl, quote, urlencode

from app.agents.gateway_port import Dialect

_NAME = r"[A-Za-z0-9][\w.:@+-]*(?:/[A-Za-z0-9][\w.:@+-]*)*"
_GEMINI_CALL = re.compile(
    rf"/(?P<version>v1|v1beta)/models/(?P<model>{_NAME}):(?P<method>generateContent|streamGenerateContent|countTokens)",
    re.ASCII,
)
_GEMINI_MODELS = re.compile(rf"/(?:v1|v1beta)/models(?:/{_NAME})?", re.ASCII)
_MODELS = re.compile(rf"/models(?:/{_NAME})?", re.ASCII)

_PARAMETERS = frozenset(
    {"alt", "beta", "api-version", "pagesize", "pagetoken", "limit", "after_id", "before_id"}
)
"""Query parameters that are passed on, in lower case. Some clients put the token in `key`."""


class Operation(StrEnum):
    """The purpose of a request. Spans are named after the values of `GENERATE` and `COUNT`."""

    GENERATE = "chat"
    COUNT = "count_tokens"
    MODELS = "models"
    PROBE = "probe"


@dataclass(frozen=True, slots=True)
class Route:
    """The destination of a request.

    Attributes:
        operation: its purpose.
        path: below the provider's base URL, as it is sent.
        model: the model in the path; None if the body names it.
        streams: whether the path asks for a stream; None if the body says so.
    """

    operation: Operation
    path: str = ""
    model: str | None = None
    streams: bool | None = None


_PROBE = Route(Operation.PROBE)

_FIXED: Mapping[Dialect, Mapping[str, Route]] = MappingProxyType(
    {
        Dialect.OPENAI_CHAT: {"/chat/completions": Route(Operation.GENERATE, "/chat/completions")},
        Dialect.OPENAI_RESPONSES: {"/responses": Route(Operation.GENERATE, "/responses")},
        Dialect.ANTHROPIC: {
            "/v1/messages": Route(Operation.GENERATE, "/v1/messages"),
            "/v1/messages/count_tokens": Route(Operation.COUNT, "/v1/messages/count_tokens", streams=False),
        },
        Dialect.GEMINI: {},
    }
)


def find_route(dialect: Dialect, method: str, path: str) -> Route | None:
    """Return the destination of a request, or None if it is not relayed.

    Args:
        dialect: the endpoint's dialect.
        method: HTTP method.
        path: decoded, without the query. OpenAI's may lack `/v1`.
    """
    if method in ("GET", "HEAD") and path in ("", "/"):
        return _PROBE
    if dialect is Dialect.GEMINI:
        return _gemini(method, path)
    if dialect is not Dialect.ANTHROPIC:
        path = path.removeprefix("/v1")
    if method == "POST":
        return _FIXED[dialect].get(path)
    prefix = "/v1" if dialect is Dialect.ANTHROPIC else ""
    if method == "GET" and path.startswith(prefix) and _MODELS.fullmatch(path.removeprefix(prefix)):
        return Route(Operation.MODELS, quote(path, safe="/:@+"), streams=False)
    return None


def _gemini(method: str, path: str) -> Route | None:
    if method == "GET" and _GEMINI_MODELS.fullmatch(path):
        return Route(Operation.MODELS, quote(path, safe="/:@+"), streams=False)
    call = _GEMINI_CALL.fullmatch(path) if method == "POST" else None
    if call is None:
        return None
    counts = call["method"] == "countTokens"
    return Route(
        Operation.COUNT if counts else Operation.GENERATE,
        quote(path, safe="/:@+"),
        model=call["model"],
        streams=call["method"] == "streamGenerateContent",
    )


def kept_query(query: str) -> str:
    """Return the part of a query that is passed on to the provider, with its question mark."""
    kept = [(name, value) for name, value in parse_qsl(query) if name.lower() in _PARAMETERS]
    return f"?{urlencode(kept)}" if kept else ""


def query_keys(query: str) -> Sequence[str]:
    """Return the tokens in a query's `key` parameters."""
    return [value for name, value in parse_qsl(query) if name == "key"]
