"""The two servers of the delivery benchmark, each in a separate process, and what they cost."""

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from pydantic import SecretStr
from websockets.asyncio.server import ServerConnection, broadcast, serve

from app.core.config import Settings
from app.main import serve as serve_phaserunner

_TICK = 1 / os.sysconf("SC_CLK_TCK")
_ENDS_WITHIN = 20.0


class Server(ABC):
    """A server in a process that ends with the block.

    Attributes:
        port: where it listens on 127.0.0.1.
    """

    def __init__(self, main: Callable[..., None], *values: object) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=main, args=(theirs, *values), daemon=True)
        self.port = 0

    def __enter__(self) -> Self:
        self._process.start()
        self.port = cast("int", self.pipe.recv())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.join(_ENDS_WITHIN)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    @property
    @abstractmethod
    def path(self) -> str:
        """Where clients connect."""

    def cpu_seconds(self) -> float:
        """Processor time so far, the kernel's for its sockets included."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * _TICK

    def memory_kb(self) -> int:
        """Private memory, in kilobytes; the kernel's buffers do not count."""
        return self._memory_kb("Private_")

    def pss_kb(self) -> int:
        """Private memory and its share of common memory, in kilobytes."""
        return self._memory_kb("Pss:")

    def _memory_kb(self, kind: str) -> int:
        rollup = Path(f"/proc/{self._process.pid}/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) for line in rollup if line.startswith(kind))


class PhaseRunner(Server):
    """The service as `phaserunner serve` runs it, with a worker or without."""

    def __init__(self, url: str, place: Path, *, with_worker: bool = False) -> None:
        super().__init__(_phaserunner, url, place, with_worker)

    @property
    def path(self) -> str:
        """The socket for several runs."""
        return "/api/v1/ws"


def _phaserunner(pipe: Connection, url: str, place: Path, with_worker: bool) -> None:
    settings = Settings(DATABASE_URL=SecretStr(url), DATA_DIR=place, PORT=0, LOG_LEVEL="ERROR")
    asyncio.run(
        serve_phaserunner(
            settings, ready=lambda url: pipe.send(int(url.rpartition(":")[2])), with_worker=with_worker
        )
    )


class Broadcast(Server):
    """`websockets.broadcast`: the same texts to the same number of clients, from memory."""

    def __init__(self) -> None:
        super().__init__(_broadcast)

    @property
    def path(self) -> str:
        """Any."""
        return "/"

    async def send(self, text: str) -> None:
        """Send to all clients."""
        await asyncio.to_thread(self.pipe.send, text)


def _broadcast(pipe: Connection) -> None:
    asyncio.run(_serve_broadcast(pipe))


async def _serve_broadcast(pipe: Connection) -> None:
    clients: set[ServerConnection] = set()

    async def keep(connection: ServerConnection) -> None:
        clients.add(connection)
        try:
            await connection.wait_closed()
        finally:
            clients.discard(connection)

    async with serve(keep, "127.0.0.1", 0, compression=None, ping_interval=None) as server:
        pipe.send(server.sockets[0].getsockname()[1])
        while True:
            broadcast(clients, await asyncio.to_thread(pipe.recv))
