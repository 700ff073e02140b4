"""Reads the body of a model request: finds the requested model, and rewrites the body for the provider."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Never, cast

from app.agents.gateway_port import Dialect
from app.gateway.routes import Operation, Route


class UnreadableRequestError(Exception):
    """A body cannot be relayed. The message names the field."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A request to a model.

    Attributes:
        model: the requested name.
        streams: True if it asks for a stream.
        body: the body to send to the provider.
    """

    model: str
    streams: bool
    body: bytes


def read_call(dialect: Dialect, route: Route, body: bytes) -> ModelCall:
    """Read a request to a model.

    The body is written anew from the checked content, so that no repeated key can hide another model. Chat
    streams are made to end with their usage.

    Raises:
        UnreadableRequestError: the body is not a JSON object, or one of its fields cannot be relayed.
    """
    content = _object(body)
    if dialect is Dialect.GEMINI:
        return ModelCall(route.model or "", bool(route.streams), _written(content))
    model, streams = content.get("model"), content.get("stream", False)
    if not isinstance(model, str) or not model:
        raise UnreadableRequestError("model: name the model")
    if streams is not None and not isinstance(streams, bool):
        raise UnreadableRequestError("stream: write true or false")
    if content.get("background"):
        # The answer would come later over a path that is not relayed, and its usage would be lost.
        raise UnreadableRequestError("background: work in the background cannot be metered")
    if dialect is Dialect.OPENAI_CHAT and streams:
        content["stream_options"] = _with_usage(content.get("stream_options"))
    wanted = bool(streams) if route.operation is Operation.GENERATE else False
    return ModelCall(model, wanted, _written(content))


def _with_usage(options: object) -> dict[str, Any]:
    if options is not None and not isinstance(options, Mapping):
        raise UnreadableRequestError("stream_options: write an object")
    given = cast("Mapping[str, Any]", options or {})
    return {**given, "include_usage": True}


def _object(body: bytes) -> dict[str, Any]:
    try:
        content: object = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise UnreadableRequestError("body: this is not JSON in UTF-8") from error
    if not isinstance(content, dict):
        raise UnreadableRequestError("body: write a JSON object")
    return cast("dict[str, Any]", content)


def _no_constant(name: str) -> Never:
    raise ValueError(name)


def _written(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def allows(patterns: Sequence[str], model: str) -> bool:
    """Return True if a model may be used. `*` in a pattern stands for any characters."""
    return any(fnmatchcase(model, _literal(each)) for each in patterns)


def _literal(pattern: str) -> str:
    return pattern.replace("[", "[[]").replace("?", "[?]")


def allowed_models(dialect: Dialect, body: bytes, patterns: Sequence[str]) -> bytes:
    """Return a provider's list of models with only the allowed ones.

    An answer that is not such a list, such as the description of one model, is returned unchanged.
    """
    try:
        content: object = json.loads(body)
    except (ValueError, RecursionError):
        return body
    name, key = ("models", "name") if dialect is Dialect.GEMINI else ("data", "id")
    if not isinstance(content, dict):
        return body
    listing = cast("dict[str, Any]", content)
    models: object = listing.get(name)
    if not isinstance(models, list):
        return body
    kept = [each for each in cast("list[Any]", models) if _may_ask(each, key, patterns)]
    return _written({**listing, name: kept})


def _may_ask(entry: object, key: str, patterns: Sequence[str]) -> bool:
    if not isinstance(entry, dict):
        return False
    name = cast("dict[str, Any]", entry).get(key)
    return isinstance(name, str) and allows(patterns, name.removeprefix("models/"))
