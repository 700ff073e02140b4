"""Compresses responses of the API. Streams, sockets and compressed files pass unchanged."""

import gzip
from functools import partial

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SMALLEST = 1_000
"""The smallest body in bytes to compress; below it, headers outweigh the saving."""

_LEVEL = 5
_IN_A_THREAD = 100_000
_TYPES = ("application/json", "application/problem+json", "text/plain", "text/x-diff", "text/html")


def accepts(header: str, coding: str) -> bool:
    """Return whether an `Accept-Encoding` header allows a content coding (RFC 9110, section 12.5.3)."""
    allowed = {"identity": True}
    for each in header.lower().split(","):
        name, _, parameter = each.partition(";")
        weight = parameter.strip().removeprefix("q=").strip() if parameter.strip() else "1"
        try:
            allowed[name.strip()] = float(weight) > 0
        except ValueError:
            allowed[name.strip()] = False
    return allowed.get(coding, allowed.get("*", False))


class Compression:
    """Compresses complete texts with gzip for clients that accept it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_accepted = accepts(Headers(scope=scope).get("accept-encoding", ""), "gzip")
        response = _Response(send, is_accepted=is_accepted and scope["method"] != "HEAD")
        await self._app(scope, receive, response.send)


class _Response:
    """Holds back the start of one response until its first body message tells whether it is complete."""

    def __init__(self, send: Send, *, is_accepted: bool) -> None:
        self._send = send
        self._is_accepted = is_accepted
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if _is_text(Headers(raw=message["headers"])):
                MutableHeaders(raw=message["headers"]).add_vary_header("Accept-Encoding")
                self._start = message
                return
        elif self._start is not None:
            start, self._start = self._start, None
            if self._is_worth_it(message):
                message = await _compress(start, message)
            await self._send(start)
        await self._send(message)

    def _is_worth_it(self, message: Message) -> bool:
        is_whole = message["type"] == "http.response.body" and not message.get("more_body", False)
        return self._is_accepted and is_whole and len(message.get("body", b"")) >= SMALLEST


def _is_text(headers: Headers) -> bool:
    kind = headers.get("content-type", "").partition(";")[0].strip()
    return kind in _TYPES and "content-encoding" not in headers


async def _compress(start: Message, message: Message) -> Message:
    work = partial(gzip.compress, message["body"], _LEVEL, mtime=0)
    body = await to_thread.run_sync(work) if len(message["body"]) >= _IN_A_THREAD else work()
    headers = MutableHeaders(raw=start["headers"])
    headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(len(body))
    # The bytes differ from the uncompressed response, so the strong tag must differ, too.
    if (tag := headers.get("etag")) is not None and tag.endswith('"'):
        headers["ETag"] = f'{tag[:-1]}-gzip"'
    return {**message, "body": body}
