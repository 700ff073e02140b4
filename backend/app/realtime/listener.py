"""Listens for the doorbell on one LISTEN connection per process, which is checked and replaced when lost."""

import asyncio
import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from uuid import UUID

from app.realtime.doorbell import CHANNEL, Connect, Connection, read_payload
from app.realtime.reader import DATABASE_ERRORS

logger = logging.getLogger(__name__)

Hear = Callable[[Collection[UUID] | None], None]
"""Receives the runs that have new events; None if any run may have some."""


@dataclass(frozen=True, slots=True)
class ListenerTimings:
    """Seconds: the period of checks, the time limit of an answer, and the pause before a new connection."""

    check: float = 5.0
    answer: float = 5.0
    retry: float = 1.0


class Listener:
    """Calls `hear` for each bell; `run` listens until it is cancelled."""

    def __init__(self, connect: Connect, hear: Hear, timings: ListenerTimings) -> None:
        self._connect = connect
        self._hear = hear
        self._timings = timings

    async def run(self) -> None:
        """Listen, and reconnect after each loss of the connection."""
        while True:
            try:
                connection = await self._connect()
                try:
                    await self._listen(connection)
                finally:
                    connection.terminate()
            except DATABASE_ERRORS as error:
                logger.warning("cannot listen for notifications, polling instead: %s", error)
            await asyncio.sleep(self._timings.retry)

    async def _listen(self, connection: Connection) -> None:
        lost = asyncio.Event()

        def on_bell(_connection: object, _pid: int, _channel: str, payload: object) -> None:
            self._hear(read_payload(str(payload)))

        def on_loss(_connection: object) -> None:
            lost.set()

        connection.add_termination_listener(on_loss)
        await connection.add_listener(CHANNEL, on_bell)
        self._hear(None)  # for bells that were rung while no listener was connected
        while not await _is_set_within(lost, self._timings.check):
            # A connection can be dead without being closed; only a query shows it.
            await connection.fetchval("SELECT 1", timeout=self._timings.answer)
        logger.warning("the connection for notifications was closed; reconnecting")


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
