"""A road to the database that can be closed: connections are dropped and refused, as in an outage."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing, suppress
from urllib.parse import urlsplit, urlunsplit

_BLOCK_BYTES = 65_536


class Road:
    """Accepts connections on one port and forwards them to `target`.

    It works on plain sockets. Streams of asyncio close theirs some turns of the loop later, which on a busy
    machine may be after the loop has ended.
    """

    def __init__(self, target: tuple[str, int]) -> None:
        self.target = target
        self.port = 0
        self._listener: socket.socket | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Let connections through; always on the same port."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._listener.setblocking(False)
        self.port = self._listener.getsockname()[1]
        asyncio.get_running_loop().add_reader(self._listener, self._accept, self._listener)

    async def close(self) -> None:
        """Drop every connection and refuse new ones."""
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)
            self._listener.close()
            self._listener = None
        while self._tasks:
            for each in self._tasks:
                each.cancel()
            await asyncio.wait(self._tasks)

    def _accept(self, listener: socket.socket) -> None:
        try:
            here, _ = listener.accept()
        except OSError:
            # The client has given up already.
            return
        here.setblocking(False)
        task = asyncio.create_task(_forward(here, self.target))
        self._tasks.add(task)
        # A task that is cancelled before it begins drops its connection, too.
        task.add_done_callback(lambda _: here.close())
        task.add_done_callback(self._tasks.discard)


async def _forward(here: socket.socket, target: tuple[str, int]) -> None:
    with closing(socket.socket()) as there, suppress(OSError):
        there.setblocking(False)
        await asyncio.get_running_loop().sock_connect(there, target)
        ways = [asyncio.create_task(_pass_on(*each)) for each in ((here, there), (there, here))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in ways:
                each.cancel()
            await asyncio.wait(ways)


async def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        while data := await loop.sock_recv(source, _BLOCK_BYTES):
            await loop.sock_sendall(sink, data)


@asynccontextmanager
async def road_to(database_url: str) -> AsyncGenerator[tuple[Road, str]]:
    """Give an open road, and the URL of the database at its end."""
    parts = urlsplit(database_url)
    assert parts.hostname is not None
    road = Road((parts.hostname, parts.port or 5432))
    await road.open()
    account = parts.netloc.rpartition("@")[0]
    try:
        yield road, urlunsplit(parts._replace(netloc=f"{account}@127.0.0.1:{road.port}"))
    finally:
        await road.close()
