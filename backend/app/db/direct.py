"""Connections of the driver beside the engine's, for the statement that is sent most often.

A session costs five times what one statement of the driver costs, and the driver's own pool twice as much.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TypeAlias

import asyncpg

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
Connect = Callable[[], Awaitable[Connection]]

IDLE_SECONDS = 60.0


class DirectConnections:
    """Lends connections to one borrower each; those that were idle for a minute are closed.

    Borrowers leave a connection as they found it: it is lent again without a reset, which would cost as much
    as the statement that it is made for.
    """

    def __init__(self, connect: Connect, *, limit: int) -> None:
        self._connect = connect
        self._free = asyncio.Semaphore(limit)
        self._idle: list[tuple[Connection, float]] = []
        self._closed = False

    def borrowed(self) -> "Loan":
        """Lend a connection while a block runs. After any error it is dropped: it may be in any state.

        Raises:
            ConnectionResetError: it was lost before the driver knew.
            OSError: there is no database; also errors of the driver.
        """
        return Loan(self)

    async def take(self) -> Connection:
        """Give a connection, once there is one to lend; `give_back` or `drop` must follow."""
        await self._free.acquire()
        try:
            return self._idle_one() or await self._connect()
        except BaseException:
            self._free.release()
            raise

    def give_back(self, connection: Connection) -> None:
        """Take back a connection that is as it was."""
        self._free.release()
        if self._closed:
            connection.terminate()
            return
        now = time.monotonic()
        self._idle.append((connection, now))
        while self._idle[0][1] < now - IDLE_SECONDS:
            self._idle.pop(0)[0].terminate()

    def drop(self, connection: Connection) -> None:
        """Take back a connection that may be in any state."""
        self._free.release()
        connection.terminate()

    def close(self) -> None:
        """Drop idle connections now, and borrowed ones when they are given back."""
        self._closed = True
        while self._idle:
            self._idle.pop()[0].terminate()

    def _idle_one(self) -> "Connection | None":
        # The last one that was used: the others grow old and are closed.
        while self._idle:
            connection, _ = self._idle.pop()
            if not connection.is_closed():
                return connection
        return None


class Loan:
    """One borrowing. A class, not a generator, which made storing one event some four per cent slower."""

    __slots__ = ("_connection", "_lender")

    def __init__(self, lender: DirectConnections) -> None:
        self._lender = lender
        self._connection: Connection | None = None

    async def __aenter__(self) -> Connection:
        self._connection = connection = await self._lender.take()
        return connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        connection, self._connection = self._connection, None
        assert connection is not None  # noqa: S101 - the block was entered
        if error is None:
            self._lender.give_back(connection)
            return
        self._lender.drop(connection)
        if isinstance(error, asyncpg.InternalClientError):
            # What the driver says when the server's farewell was read, but not yet the end of the line.
            raise ConnectionResetError("the connection to the database was lost") from error
