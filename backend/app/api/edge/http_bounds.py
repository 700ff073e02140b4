"""Bounds on HTTP that apply first to every request: the size of its head, and the time that it may take.

The server's parser accepts heads of any length and waits for them without limit, before a token is checked.
"""

import asyncio
from typing import TYPE_CHECKING, cast

from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from app.api.edge.problems import problem
from app.realtime.protocol import EventHttpProtocol

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application


class BoundedHttpProtocol(EventHttpProtocol):
    """The service's HTTP protocol.

    The response to a head that is too large is 431, and to one that does not arrive in time 408. A body that
    stalls while the application waits for it ends the connection.

    Attributes:
        head_bytes: the most bytes of request line and headers together.
        head_fields: the most headers.
        head_seconds: time from the connection, or the first byte of a later request, to the end of the head.
        body_seconds: time between two parts of a body.
    """

    head_bytes = 65_536
    head_fields = 100
    head_seconds = 15.0
    body_seconds = 30.0

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:
        self._timer: asyncio.TimerHandle | None = None
        self._received = 0
        self._in_head = True
        super().connection_made(transport)
        self._wait_for_head()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)
        if self._in_head and self._received > self.head_bytes and not self.transport.is_closing():
            self._refuse(self._too_large())

    @override
    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        if not self._in_head:
            self._in_head, self._received = True, 0
            self._wait_for_head()

    @override
    def on_headers_complete(self) -> None:
        """Pass the request on, or respond here if its head is too large."""
        self._in_head = False
        self._stop_waiting()
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size <= self.head_bytes and len(self.headers) <= self.head_fields:
            super().on_headers_complete()
        else:
            # The application is replaced for this request only, so that the rest of the
            # request is read as usual.
            self.app = self._answer_too_large
            super().on_headers_complete()
            self.app = cast("ASGI3Application", self.config.loaded_app)
        self._wait_for_body()

    @override
    def on_body(self, body: bytes) -> None:
        """Receive a part of the body."""
        super().on_body(body)
        self._wait_for_body()

    @override
    def on_message_complete(self) -> None:
        """End the request's body."""
        self._stop_waiting()
        super().on_message_complete()

    @override
    def handle_websocket_upgrade(self) -> None:
        """Pass the connection to the WebSocket protocol."""
        self._stop_waiting()
        super().handle_websocket_upgrade()

    def _too_large(self) -> Response:
        limits = f"{self.head_bytes} bytes and {self.head_fields} headers"
        detail = f"the request line and headers are too large; the limits are {limits}"
        return problem(431, "headers_too_large", "Request header fields too large", detail)

    def _wait_for_head(self) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(self.head_seconds, self._head_is_late)

    def _wait_for_body(self) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(self.body_seconds, self._body_is_late)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _head_is_late(self) -> None:
        if self._received == 0:
            self.transport.close()
            return
        detail = f"the request's headers did not arrive within {self.head_seconds:g} seconds"
        self._refuse(problem(408, "request_timeout", "Request timeout", detail))

    def _body_is_late(self) -> None:
        if self.flow.read_paused or self.cycle.waiting_for_100_continue:
            self._wait_for_body()  # the application has not asked for more
        else:
            self.transport.abort()

    def _refuse(self, response: Response) -> None:
        """Respond without the application, which does not know the request yet."""
        head = [f"HTTP/1.1 {response.status_code} \r\n".encode(), b"connection: close\r\n"]
        head += [name + b": " + value + b"\r\n" for name, value in response.raw_headers]
        self.transport.write(b"".join([*head, b"\r\n", bytes(response.body)]))
        self.transport.close()

    async def _answer_too_large(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = self._too_large()
        response.headers["connection"] = "close"
        await response(scope, receive, send)
