"""Many WebSocket clients in a separate process: what they receive, and how long it took.

They speak just enough of the protocol to cost little: on a machine with few cores a client's time is taken
from the server's.
"""

import asyncio
import base64
import os
import re
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self, cast

MARK = re.compile(rb"sent at ([0-9]+);")
"""In each event's text: the clock (`time.monotonic_ns`, one for all processes) when it was made."""

_CONNECT_AT_ONCE = 50
_TEXT, _PING, _PONG = 0x1, 0x9, 0xA
_SMALL_BUFFER = 4_096


@dataclass(slots=True)
class Heard:
    """The seconds that each event took to each client, and how many clients are still connected."""

    seconds: list[float] = field(default_factory=list[float])
    connected: int = 0


class _Client(asyncio.Protocol):
    """One client: shakes hands, subscribes, and notes when events arrive."""

    def __init__(self, path: str, subscribe: bytes, heard: Heard) -> None:
        self._path = path
        self._subscribe = subscribe
        self._heard = heard
        self._buffer = b""
        self._is_open = False
        self.transport: asyncio.Transport | None = None
        self.ready = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._heard.connected += 1
        key = base64.b64encode(os.urandom(16)).decode()
        self.transport.write(
            f"GET {self._path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def stall(self, flood: bytes) -> None:
        """Ask for more, and read nothing any more."""
        if self.transport is not None:
            self._send(_TEXT, flood)
            self.transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._heard.connected -= 1

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        self._buffer += data
        if not self._is_open and not self._shake_hands():
            return
        for opcode, text in self._messages():
            sent = MARK.search(text)
            if sent is not None:
                self._heard.seconds.append((now - int(sent[1])) / 1e9)
            elif b'"subscribed"' in text:
                self.ready.set()
            elif opcode == _PING:
                self._send(_PONG, text)
            elif b'"heartbeat"' not in text:
                raise AssertionError(text)

    def _shake_hands(self) -> bool:
        head, end, rest = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return False
        if not head.startswith(b"HTTP/1.1 101"):
            raise AssertionError(head.decode("latin-1"))
        self._buffer = rest
        self._is_open = True
        if self._subscribe:
            self._send(_TEXT, self._subscribe)
        else:
            self.ready.set()
        return True

    def _send(self, opcode: int, text: bytes) -> None:
        if self.transport is not None:
            mask = b"\0\0\0\0"  # which leaves the text as it is
            self.transport.write(_header(opcode, len(text)) + mask + text)

    def _messages(self) -> list[tuple[int, bytes]]:
        messages: list[tuple[int, bytes]] = []
        while len(self._buffer) >= 2:
            length, start = self._buffer[1], 2
            if length == 126:
                length, start = int.from_bytes(self._buffer[2:4]), 4
            elif length == 127:
                length, start = int.from_bytes(self._buffer[2:10]), 10
            if len(self._buffer) < start + length:
                break
            messages.append((self._buffer[0] & 0x0F, self._buffer[start : start + length]))
            self._buffer = self._buffer[start + length :]
        return messages


class Crowd:
    """The clients' process, as seen from outside; it ends with the block."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_main, args=(theirs,), daemon=True)

    def __enter__(self) -> Self:
        self._process.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.join()

    async def connect(self, port: int, path: str, subscribe: str, count: int) -> None:
        """Open this many."""
        await self._ask("connect", port, path, subscribe.encode(), count)

    async def stall(self, port: int, path: str, subscribe: str, flood: str) -> None:
        """Open one that subscribes to more than fits into its connection, and stops reading."""
        await self._ask("stall", port, path, subscribe.encode(), flood.encode())

    async def take(self, count: int) -> list[float]:
        """Wait for so many deliveries; give the seconds that each took.

        Raises:
            TimeoutError: they do not come.
        """
        return cast("list[float]", await self._ask("take", count))

    async def wake(self) -> int:
        """Let the client that stalled read on; give how many clients the server has left connected."""
        return cast("int", await self._ask("wake"))

    async def _ask(self, *question: object) -> object:
        return await asyncio.to_thread(self._ask_now, question)

    def _ask_now(self, question: Sequence[object]) -> object:
        self._pipe.send(question)
        answer = self._pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer


def _main(pipe: Connection) -> None:
    asyncio.run(_Host(pipe).run())


class _Host:
    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._heard = Heard()
        self._stalled: _Client | None = None
        self._clients: list[_Client] = []

    async def run(self) -> None:
        while True:
            name, *values = await asyncio.to_thread(self._pipe.recv)
            answer: object
            try:
                answer = await getattr(self, name)(*values)
            except Exception as error:  # noqa: BLE001 - told to who asked
                answer = error
            self._pipe.send(answer)

    async def connect(self, port: int, path: str, subscribe: bytes, count: int) -> None:
        gate = asyncio.Semaphore(_CONNECT_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(self._connect(gate, port, path, subscribe))

    async def stall(self, port: int, path: str, subscribe: bytes, flood: bytes) -> None:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BUFFER)
        self._stalled = await self._open(connection, port, path, subscribe)
        self._stalled.stall(flood)

    async def _connect(self, gate: asyncio.Semaphore, port: int, path: str, subscribe: bytes) -> None:
        async with gate:
            self._clients.append(await self._open(socket.socket(), port, path, subscribe))

    async def _open(self, connection: socket.socket, port: int, path: str, subscribe: bytes) -> _Client:
        client = _Client(path, subscribe, self._heard)
        connection.setblocking(False)
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(60):
            await loop.sock_connect(connection, ("127.0.0.1", port))
            await loop.create_connection(lambda: client, sock=connection)
            await client.ready.wait()
        return client

    async def take(self, count: int) -> list[float]:
        async with asyncio.timeout(60):
            while len(self._heard.seconds) < count:  # noqa: ASYNC110 - an event for each would cost more
                await asyncio.sleep(0.02)
        seconds, self._heard.seconds = self._heard.seconds, []
        return seconds

    async def wake(self) -> int:
        if self._stalled is not None and self._stalled.transport is not None:
            self._stalled.transport.resume_reading()
        await asyncio.sleep(1.0)
        return self._heard.connected


def _header(opcode: int, length: int) -> bytes:
    """The header of a masked frame of a client; short lengths must not be written as long ones."""
    if length < 126:
        return bytes([0x80 | opcode, 0x80 | length])
    return struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, length)
