"""Tells other processes, after the commit, which runs have new events, through Postgres NOTIFY.

A bell is a hint. It may be lost, repeated or late, so listeners also poll.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator
from typing import TypeAlias
from uuid import UUID

import asyncpg
from pydantic import TypeAdapter, ValidationError

from app.realtime.reader import DATABASE_ERRORS

logger = logging.getLogger(__name__)

CHANNEL = "phaserunner_events"
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
Connect = Callable[[], Awaitable[Connection]]
RUNS_PER_BELL = 180  # 39 bytes each; Postgres refuses payloads of 8,000 bytes

_RUN_IDS: TypeAdapter[list[UUID]] = TypeAdapter(list[UUID])


class Doorbell:
    """Rings for the runs of this process; `run` sends the bells until it is cancelled.

    The first bell after a silence is sent at once. Bells rung within `coalesce_seconds`
    after it are sent together.
    """

    def __init__(
        self, connect: Connect, *, coalesce_seconds: float = 0.004, retry_seconds: float = 1.0
    ) -> None:
        self._connect = connect
        self._coalesce_seconds = coalesce_seconds
        self._retry_seconds = retry_seconds
        self._rung: set[UUID] = set()
        self._wake = asyncio.Event()

    def ring(self, run_id: UUID) -> None:
        """Hint at new events of a run, after their commit, without waiting. Call it on the event loop."""
        self._rung.add(run_id)
        self._wake.set()

    async def run(self) -> None:
        """Send bells; those rung while the database is unavailable are sent when it is back."""
        while True:
            await self._wake.wait()
            try:
                connection = await self._connect()
                try:
                    await self._send_bells(connection)
                finally:
                    connection.terminate()
            except DATABASE_ERRORS as error:
                logger.warning("cannot send notifications, clients are served by polling: %s", error)
            await asyncio.sleep(self._retry_seconds)

    async def _send_bells(self, connection: Connection) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            rung, self._rung = self._rung, set()
            try:
                for payload in payloads(rung):
                    await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, payload)
            except DATABASE_ERRORS:
                self._rung |= rung
                self._wake.set()
                raise
            await asyncio.sleep(self._coalesce_seconds)


def payloads(run_ids: Collection[UUID]) -> Iterator[str]:
    """Yield the run ids as JSON lists, each short enough for one NOTIFY."""
    names = [str(run_id) for run_id in run_ids]
    for start in range(0, len(names), RUNS_PER_BELL):
        yield json.dumps(names[start : start + RUNS_PER_BELL], separators=(",", ":"))


def read_payload(payload: str) -> list[UUID] | None:
    """Return the run ids in a payload; None for a foreign one, which any client of the database can send."""
    try:
        return _RUN_IDS.validate_json(payload)
    except ValidationError:
        return None
