"""Driver connections for single statements, beside SQLAlchemy's sessions.

A session costs five times as much as one statement of the driver.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, TypeAlias

import asyncpg

Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"

IDLE_SECONDS = 60.0
LEND_SECONDS = 10.0
"""The longest wait in seconds for a free connection, and for a cancelled statement to end."""


class DirectPool:
    """A pool of driver connections, which connects on first use.

    Each statement is one transaction and leaves no state in its connection. So the pool does not reset
    connections, which would cost as much as the statement.

    Args:
        url: the database's URL, as libpq reads it.
        settings: server settings for each connection.
        limit: the most connections at the same time.
    """

    def __init__(self, url: str, settings: Mapping[str, str], *, limit: int) -> None:
        self._url = url
        self._settings = dict(settings)
        self._limit = limit
        self._opening = asyncio.Lock()
        self._pool: Pool | None = None

    async def fetch_value(self, statement: str, *values: object) -> Any:
        """Execute a statement and return the first value of its first row; None without a row.

        Raises:
            ConnectionResetError: the connection was lost before the driver noticed.
            TimeoutError: every connection is in use.
            OSError: the database cannot be reached; errors of the driver are raised, too.
        """
        pool = self._pool or await self._open()
        try:
            async with pool.acquire(timeout=LEND_SECONDS) as connection:
                return await connection.fetchval(statement, *values)
        except asyncpg.InternalClientError as error:
            # The driver raises this if it has read the server's shutdown message but
            # not the end of the stream.
            raise ConnectionResetError("the connection to the database was lost") from error

    def close(self) -> None:
        """Drop all connections; the next statement connects again."""
        if self._pool is not None:
            self._pool.terminate()
            self._pool = None

    async def _open(self) -> Pool:
        async with self._opening:
            if self._pool is None:
                self._pool = await asyncpg.create_pool(
                    self._url,
                    min_size=0,
                    max_size=self._limit,
                    max_inactive_connection_lifetime=IDLE_SECONDS,
                    reset=_leave_as_it_is,
                    timeout=10,
                    command_timeout=30,
                    server_settings=self._settings,
                )
            return self._pool


async def _leave_as_it_is(_: object) -> None:
    """Do nothing in place of the pool's reset, which is a round trip."""
