"""A road to the database that can be closed: connections are dropped and refused, as in an outage."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit, urlunsplit

_TURNS = 20


class Road:
    """Forwards connections on a port of its own to wherever `target` is."""

    def __init__(self, target: tuple[str, int]) -> None:
        self.target = target
        self.port = 0
        self._server: asyncio.Server | None = None
        self._is_open = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Let connections through; always on the same port."""
        self._is_open = True
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Drop every connection and refuse new ones."""
        self._is_open = False
        if self._server is not None:
            self._server.close()
        while self._tasks:
            for each in self._tasks:
                each.cancel()
            await asyncio.wait(self._tasks)
        # Connections that were accepted last reach `_accept` some turns of the loop later, and their sockets
        # are closed one turn after that. On a busy machine, no time is sure to have so many turns.
        for _ in range(_TURNS):
            await asyncio.sleep(0)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._is_open:
            writer.transport.abort()
            return
        task = asyncio.create_task(self._forward(reader, writer))
        self._tasks.add(task)
        # A task that is cancelled before it begins drops its connection, too.
        task.add_done_callback(lambda _: writer.transport.abort())
        task.add_done_callback(self._tasks.discard)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.CancelledError):
            await _join(reader, writer, self.target)


async def _join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: tuple[str, int]) -> None:
    there, back = await asyncio.open_connection(*target)
    try:
        ways = [
            asyncio.create_task(_pass_on(reader, back)),
            asyncio.create_task(_pass_on(there, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in ways:
                each.cancel()
            await asyncio.wait(ways)
    finally:
        back.transport.abort()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()


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
