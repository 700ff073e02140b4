"""Checks every request: the host that it names, its token, and the size of its body."""

from collections.abc import Awaitable, Callable, Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.edge.credentials import SUBPROTOCOL, claimed_name, offers_subprotocol, take_token
from app.api.edge.problems import name_of, response_to
from app.api.edge.rechecks import Recheck
from app.api.edge.wrong_tokens import WrongTokens
from app.core.errors import ForbiddenError, PhaseRunnerError, UnauthorizedError
from app.core.event_frames import CloseCode
from app.core.security import Principal, Role, host_allowed, host_name, is_loopback, origin_allowed

Recognise = Callable[[str], Awaitable[Principal | None]]
"""Returns the principal of a token, or None."""

TokensNeeded = Callable[[], Awaitable[bool]]
"""Returns whether requests must carry a token; called for each request, so that new tokens count at once."""

PROBES = frozenset({"/healthz", "/readyz"})
"""Paths that a supervisor may call under any address that it knows; they reveal nothing."""

SIGNED = frozenset({"/api/v1/forges/github/webhook", "/api/v1/forges/gitlab/webhook"})
"""Paths whose requests carry a signature instead of a token; their routes check it."""

MAX_BODY_BYTES = 1_000_000
MAX_SOURCE_BYTES = 90_000_000
"""The largest body of a request to start a run, whose source may be an archive."""

MAX_DELIVERY_BYTES = 25 * 1024 * 1024
"""The largest body of a forge's delivery; no forge sends more."""

_STARTS = ("/api/v1/sprints", "/api/v1/loops", "/api/v1/answers")

_FROM_PROXIES = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers that reverse proxies add."""

_REASON_BYTES = 120
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
}


class RequestChecks:
    """ASGI middleware that checks requests.

    Args:
        app: the application.
        hosts: names by which the service may be addressed, in addition to the loopback ones.
        recognise: checks tokens; None if no token is needed and every caller is admin.
        needed: returns whether tokens are needed; without it they are, if `recognise` is given.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[str],
        recognise: Recognise | None,
        needed: TokensNeeded | None = None,
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._recognise = recognise
        self._needed = needed
        self._wrong = WrongTokens()
        self._standing = Recheck(self._is_let_in)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or respond with an error."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_http = scope["type"] == "http"
        guarded = _with_headers(send) if is_http else _with_subprotocol(send, scope)
        # First, before anything can refuse the request and log its URL: the token is removed from it.
        token = take_token(scope, headers)
        try:
            if scope["path"] not in PROBES:
                self._check_origin(headers)
            scope["principal"] = await self._principal(scope, headers, token)
            limited = _limited(scope, headers, receive) if is_http else receive
        except Exception as error:  # noqa: BLE001 - an edge: nothing outside of this renders errors
            await _refuse(error, scope, receive, guarded)
            return
        await self._app(scope, limited, guarded)

    def _check_origin(self, headers: Headers) -> None:
        host = headers.get("host", "")
        if not host_allowed(host, self._hosts):
            raise ForbiddenError(f"the host {host!r} is not allowed; add it to ALLOWED_HOSTS")
        if not origin_allowed(headers.get("origin"), host):
            raise ForbiddenError("requests from other origins are not allowed")

    async def _principal(self, scope: Scope, headers: Headers, token: str) -> Principal:
        if self._recognise is None:
            return Principal(claimed_name(headers), Role.ADMIN)
        if not scope["path"].startswith("/api/") or scope["path"] in SIGNED:
            return Principal("anyone", Role.VIEWER)
        self._standing.grant(scope, token)
        if self._needed is not None and not await self._needed():
            _require_this_machine(headers)
            return Principal(claimed_name(headers), Role.ADMIN)
        principal = await self._recognise(token) if token else None
        if principal is None:
            if not token:
                raise UnauthorizedError("send a token: Authorization: Bearer TOKEN")
            await self._wrong.note(_client(scope))
            raise UnauthorizedError("the token is wrong, expired or revoked")
        return principal

    async def _is_let_in(self, token: str) -> bool:
        if self._recognise is None or (self._needed is not None and not await self._needed()):
            return True
        return bool(token) and await self._recognise(token) is not None


def _client(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


def _require_this_machine(headers: Headers) -> None:
    """Refuse requests from other machines while no token exists.

    Behind a reverse proxy, every request comes from loopback, so proxies are refused as well.

    Raises:
        UnauthorizedError: a proxy forwarded the request, or it names another host than this machine.
    """
    passed_on = next((name for name in _FROM_PROXIES if name in headers), None)
    if passed_on is None and is_loopback(host_name(headers.get("host", ""))):
        return
    about = f"carries {passed_on}" if passed_on else f"names {headers.get('host', '')!r}"
    raise UnauthorizedError(
        f"the request {about}, so it may come from another machine, and no API token exists. Create one: "
        "phaserunner tokens create NAME --role admin"
    )


def _limit_of(scope: Scope) -> int:
    if scope["path"] in SIGNED:
        return MAX_DELIVERY_BYTES
    is_start = scope["method"] == "POST" and scope["path"] in _STARTS
    return MAX_SOURCE_BYTES if is_start else MAX_BODY_BYTES


def _limited(scope: Scope, headers: Headers, receive: Receive) -> Receive:
    limit = _limit_of(scope)
    # The framework passes errors of this class on; it treats any other as a body that is not JSON.
    too_large = HTTPException(413, f"the body has more than {limit:,} bytes")
    announced = headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > limit:
        raise too_large
    seen = 0

    async def counting() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise too_large
        return message

    return counting


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return guarded


def _with_subprotocol(send: Send, scope: Scope) -> Send:
    if not offers_subprotocol(scope):
        return send

    async def choosing(message: Message) -> None:
        # A browser gives up a socket if it offered subprotocols and the server chose none.
        if message["type"] == "websocket.accept":
            message = {**message, "subprotocol": SUBPROTOCOL}
        await send(message)

    return choosing


async def _refuse(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await response_to(error, name_of(scope))(scope, receive, send)
        return
    await receive()
    # Accept first: an earlier refusal would reach a browser as a bare failure without a code.
    await send({"type": "websocket.accept"})
    code, reason = _closing(error, scope["path"])
    await send({"type": "websocket.close", "code": code, "reason": reason})


def _closing(error: Exception, path: str) -> tuple[int, str]:
    match error:
        case UnauthorizedError():
            return CloseCode.UNAUTHORIZED, error.detail[:_REASON_BYTES]
        case PhaseRunnerError():
            return CloseCode.FORBIDDEN, error.detail[:_REASON_BYTES]
        case _:
            response_to(error, f"WebSocket {path}")  # for the log
            return CloseCode.RESTART, "try again soon"
