"""The door of the service: checks from where requests come and who asks, and how large they are."""

import re
from collections.abc import Awaitable, Callable, Collection
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import render
from app.core.errors import ForbiddenError, PayloadTooLargeError, PhaseRunnerError, UnauthorizedError
from app.core.security import Principal, Role, host_allowed, origin_allowed

Recognise = Callable[[str], Awaitable[Principal | None]]
"""Gives who a token stands for, or None."""

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
MAX_BODY_BYTES = 1_000_000
MAX_SOURCE_BYTES = 90_000_000
"""For starting a sprint, whose source may be an archive."""

_CLOSE_UNAUTHORIZED = 4401
_CLOSE_FORBIDDEN = 4403
_USER_HEADER = "x-phaserunner-user"
_MAX_NAME_CHARS = 100


class Gate:
    """ASGI middleware.

    Args:
        app: the application.
        hosts: names by which the service may be addressed, beside the loopback ones.
        recognise: checks tokens; None when nobody has to show one, and everyone is admin.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], recognise: Recognise | None) -> None:
        self._app = app
        self._hosts = hosts
        self._recognise = recognise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or answer it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            self._check_origin(headers)
            scope["principal"] = await self._principal(scope, headers)
            limited = _limited(scope, headers, receive) if scope["type"] == "http" else receive
        except PhaseRunnerError as error:
            await _refuse(error, scope, receive, send)
            return
        try:
            await self._app(scope, limited, send)
        except _BodyTooLargeError as error:
            await render(error)(scope, receive, send)

    def _check_origin(self, headers: Headers) -> None:
        host = headers.get("host", "")
        if not host_allowed(host, self._hosts):
            raise ForbiddenError(f"this service does not answer to {host!r}; add the name to ALLOWED_HOSTS")
        if not origin_allowed(headers.get("origin"), host):
            raise ForbiddenError("requests from pages of other origins are not taken")

    async def _principal(self, scope: Scope, headers: Headers) -> Principal:
        if self._recognise is None:
            return Principal(_claimed_name(headers), Role.ADMIN)
        if scope["path"] in OPEN_PATHS:
            return Principal("probe", Role.VIEWER)
        principal = await self._recognise(_token(scope, headers))
        if principal is None:
            raise UnauthorizedError("send a valid token: Authorization: Bearer …")
        return principal


class _BodyTooLargeError(PayloadTooLargeError):
    """Raised while the body is read."""


def _claimed_name(headers: Headers) -> str:
    name = re.sub(r"\s+", " ", headers.get(_USER_HEADER, "")).strip()
    return name[:_MAX_NAME_CHARS] if name.isprintable() and name else "local"


def _token(scope: Scope, headers: Headers) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return token.strip()
    if scope["type"] == "websocket":
        # Browsers cannot set headers on a WebSocket.
        return parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
    return ""


def _limited(scope: Scope, headers: Headers, receive: Receive) -> Receive:
    is_start = scope["method"] == "POST" and scope["path"] == "/api/v1/sprints"
    limit = MAX_SOURCE_BYTES if is_start else MAX_BODY_BYTES
    announced = headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limit:
        raise PayloadTooLargeError(f"the body has {announced} bytes; at most {limit} are taken")
    seen = 0

    async def counting() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise _BodyTooLargeError(f"the body has more than {limit} bytes")
        return message

    return counting


async def _refuse(error: PhaseRunnerError, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await render(error)(scope, receive, send)
        return
    await receive()
    # Accepted first: a refusal before that reaches a browser as a bare failure without code.
    code = _CLOSE_UNAUTHORIZED if isinstance(error, UnauthorizedError) else _CLOSE_FORBIDDEN
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.close", "code": code, "reason": error.detail[:120]})
