"""The server's side of connections: sends without waiting, and drops clients that have stalled.

ASGI offers neither. uvicorn waits for a writable connection before every message, `websocket.close` included,
so a client that stops reading could be neither skipped nor closed.
"""

import asyncio
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from socket import socket
from typing import Any, Protocol, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN

from app.core.signals import ENDING

DIRECT_EXTENSION = "phaserunner.direct"
"""Key in the `extensions` of a WebSocket scope; its value is a `DirectSocket`."""

ABORT_EXTENSION = "phaserunner.abort"
"""Key in the `extensions` of an HTTP scope; its value is a function that drops the connection at once."""


class DirectSocket(Protocol):
    """A WebSocket that bypasses ASGI."""

    def offer(self, message: bytes) -> bool:
        """Send a framed message (`message.text_message`) now.

        Returns:
            False if the client has not taken earlier messages, or is gone.
        """
        ...

    def evict(self, code: int, reason: str) -> None:
        """Close without waiting. A client that still reads gets the close code; others are dropped."""
        ...


def direct_socket(scope: Mapping[str, Any]) -> DirectSocket | None:
    """Return the direct socket; None if another server or protocol is in use."""
    extensions: Mapping[str, DirectSocket] = scope.get("extensions") or {}
    return extensions.get(DIRECT_EXTENSION)


def aborter(scope: Mapping[str, Any]) -> Callable[[], None] | None:
    """Return the function that drops this HTTP connection at once; None with another server or protocol."""
    extensions: Mapping[str, Callable[[], None]] = scope.get("extensions") or {}
    return extensions.get(ABORT_EXTENSION)


class EventWebSocketProtocol(WebSocketsSansIOProtocol):
    """uvicorn's protocol, extended to offer itself to the application as a `DirectSocket`."""

    grace_seconds = 5.0

    async def run_asgi(self) -> None:
        extensions = cast("dict[str, Any]", self.scope.setdefault("extensions", {}))
        extensions[DIRECT_EXTENSION] = self
        await super().run_asgi()

    def offer(self, message: bytes) -> bool:
        """Send a framed message now, or return False if it cannot be sent now.

        The message is framed once for all clients. This is safe because an unfragmented message changes
        nothing in the connection state of the library, and no extension is in use.
        """
        if not self.writable.is_set() or not self._is_open:
            return False
        self.transport.write(message)
        return True

    def evict(self, code: int, reason: str) -> None:
        """Write the close frame after buffered data, and drop the connection after a grace period."""
        if self.disconnected:
            return
        if self._is_open:
            self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
            self.conn.send_close(code, reason)
            self._flush()
            self.close_sent = True
            if self.read_paused:  # the client's close frame must be read
                self.read_paused = False
                self.transport.resume_reading()
        self.close_timer = self.loop.call_later(self.grace_seconds, self.transport.abort)

    def shutdown(self) -> None:
        """Close with 1012, and keep stalled clients from delaying the server's end."""
        super().shutdown()
        self.loop.call_later(self.grace_seconds, self.transport.abort)

    @property
    def _is_open(self) -> bool:
        return (
            self.handshake_complete
            and not self.close_sent
            and not self.disconnected
            and self.conn.state is OPEN
            and not self.conn.extensions
            and not self.transport.is_closing()
        )

    def _flush(self) -> None:
        self.transport.write(b"".join(self.conn.data_to_send()))


class EventHttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol, extended to let the application drop a connection to a stalled client."""

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        cast("dict[str, Any]", self.scope)["extensions"] = {ABORT_EXTENSION: self.transport.abort}


class EventServer(uvicorn.Server):
    """A server that ends its event streams first, because they would hold up its shutdown forever.

    uvicorn waits for open responses before it tells the application about the shutdown.
    """

    def __init__(self, config: uvicorn.Config, *, before_shutdown: Callable[[], None]) -> None:
        super().__init__(config)
        self._before_shutdown = before_shutdown

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """End on SIGINT and SIGTERM, without raising them again.

        uvicorn raises them again after its end, which would kill the process before
        its other parts have ended.
        """
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread receives signals
            return
        loop = asyncio.get_running_loop()
        for number in ENDING:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in ENDING:
                loop.remove_signal_handler(number)

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """End streams, then connections."""
        self._before_shutdown()
        await asyncio.sleep(0)
        await super().shutdown(sockets)


_MEDIUM, _LARGE = 126, 127
"""Length codes: the length follows in two or in eight bytes (RFC 6455, 5.2)."""


def text_message(text: bytes) -> bytes:
    """Return UTF-8 text as an unfragmented, uncompressed message of a server."""
    return Frame(Opcode.TEXT, text).serialize(mask=False)


def text_of(message: bytes) -> bytes:
    """Return the text in such a message."""
    return message[{_MEDIUM: 4, _LARGE: 10}.get(message[1], 2) :]
