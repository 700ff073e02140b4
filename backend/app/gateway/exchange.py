"""One HTTP request of a client and the answer to it, over ASGI."""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any

from starlette.types import Receive, Scope, Send

JSON = "application/json"


class ClientGoneError(Exception):
    """The client disconnected before its request was complete."""


class BodyTooLargeError(Exception):
    """The body of a request is larger than the limit."""


class GatewayExchange:
    """A request and its answer."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: str = scope["query_string"].decode("latin-1")
        self.headers: Mapping[str, str] = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        self.begun = False

    async def read_body(self, limit: int) -> bytes:
        """Read the request's body.

        Raises:
            BodyTooLargeError: it has more than `limit` bytes.
            ClientGoneError: the client disconnected.
        """
        length = self.headers.get("content-length", "")
        if length.isdecimal() and int(length) > limit:
            raise BodyTooLargeError
        body = bytearray()
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            body += message.get("body", b"")
            if len(body) > limit:
                raise BodyTooLargeError
            if not message.get("more_body", False):
                return bytes(body)

    async def while_connected(self, work: Coroutine[Any, Any, None]) -> None:
        """Do work after the body was read. Cancel it if the client disconnects."""
        working = asyncio.create_task(work)
        watching = asyncio.create_task(self._gone())
        try:
            await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            watching.cancel()
            if not working.done():
                working.cancel()
            await asyncio.wait({working, watching})
        if not working.cancelled():
            working.result()

    async def _gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def answer(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Send a whole answer."""
        await self.begin(status, {"content-type": JSON, **(headers or {}), "content-length": str(len(body))})
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the head of an answer."""
        self.begun = True
        encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})

    async def piece(self, data: bytes) -> None:
        """Send a piece of the body. Wait while the client does not read."""
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        """End the body."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})
