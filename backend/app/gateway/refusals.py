"""Writes the gateway's own errors in the form that each dialect's clients read."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from app.agents.gateway_port import Dialect

_ANTHROPIC_TYPES: Mapping[int, str] = MappingProxyType(
    {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
    }
)
_GEMINI_STATES: Mapping[int, str] = MappingProxyType(
    {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        403: "PERMISSION_DENIED",
        404: "NOT_FOUND",
        413: "INVALID_ARGUMENT",
        429: "RESOURCE_EXHAUSTED",
        503: "UNAVAILABLE",
    }
)
_OPENAI_CODES: Mapping[int, str] = MappingProxyType(
    {401: "invalid_api_key", 403: "permission_denied", 404: "not_found", 503: "service_unavailable"}
)


def error_content(dialect: Dialect, status: int, message: str) -> dict[str, Any]:
    """Return an error in the form that clients of a dialect expect."""
    match dialect:
        case Dialect.ANTHROPIC:
            kind = _ANTHROPIC_TYPES.get(status, "api_error")
            return {"type": "error", "error": {"type": kind, "message": message}}
        case Dialect.GEMINI:
            state = _GEMINI_STATES.get(status, "INTERNAL")
            return {"error": {"code": status, "message": message, "status": state}}
        case Dialect.OPENAI_CHAT | Dialect.OPENAI_RESPONSES:
            kind = "invalid_request_error" if status < 500 else "server_error"
            code = _OPENAI_CODES.get(status)
            return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def error_body(dialect: Dialect, status: int, message: str) -> bytes:
    """Return the body of an answer with an error status."""
    return json.dumps(error_content(dialect, status, message)).encode()


def broken_stream(dialect: Dialect, message: str) -> bytes:
    """Return the end for an event stream that the provider cut short.

    Without it, a client may take the part so far for the whole answer. The blank line ends an incomplete
    event.
    """
    content = error_content(dialect, 503, message)
    name = b""
    if dialect is Dialect.ANTHROPIC:
        name = b"event: error\n"
    elif dialect is Dialect.OPENAI_RESPONSES:
        content = {"type": "error", "code": "server_error", "message": message, "param": None}
        name = b"event: error\n"
    return b"\n\n" + name + b"data: " + json.dumps(content).encode() + b"\n\n"
