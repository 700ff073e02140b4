"""Reads events as they go over the wire, and what lists need of runs; asyncpg directly, for speed."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Protocol, TypeVar
from uuid import UUID

import asyncpg

from app.core.event_frames import ResumeMode, RunState

logger = logging.getLogger(__name__)

DATABASE_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
"""What a database that is away, restarting or overloaded raises; a timeout is an OSError."""

_COLUMNS = "sequence, type, phase, attempt, data, at, trace_id"
_HEAD = """
    SELECT status, last_sequence, (SELECT min(sequence) FROM events WHERE run_id = runs.id) AS first
    FROM runs WHERE id = $1
"""
_READ = f"""
    SELECT {_COLUMNS} FROM events WHERE run_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3
"""  # noqa: S608 (constants only)
# The join with `runs` keeps a poll cheap: runs without news cost one look at their row.
_NEWS = f"""
    SELECT watched.run_id, news.*
    FROM unnest($1::uuid[], $2::bigint[]) AS watched (run_id, after)
    JOIN runs ON runs.id = watched.run_id AND runs.last_sequence > watched.after
    CROSS JOIN LATERAL (
        SELECT {_COLUMNS} FROM events
        WHERE events.run_id = watched.run_id AND sequence > watched.after ORDER BY sequence LIMIT $3
    ) AS news
    ORDER BY watched.run_id, news.sequence
"""  # noqa: S608 (constants only)
_STATES = """
    SELECT id AS run_id, kind, name, status, status_reason, phase, last_sequence, version, updated_at,
           (SELECT max(number) FROM attempts
            WHERE attempts.run_id = runs.id AND attempts.phase = runs.phase) AS attempt
    FROM runs
"""
_STATES_BY_ID = f"{_STATES} WHERE id = ANY($1::uuid[])"
# Both conditions are served by an index. The second finds a run that began and ended between two polls.
_STATES_UNFINISHED = f"""{_STATES}
    WHERE status IN ('queued', 'active', 'waiting') OR created_at > now() - interval '1 minute'
"""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One committed event; `wire` is its envelope as JSON text, made once for all clients."""

    sequence: int
    type: str
    wire: bytes


@dataclass(frozen=True, slots=True)
class Start:
    """Where delivery begins: behind `after`; `head` is the run's last sequence at that time."""

    mode: ResumeMode
    after: int
    head: int
    status: str


@dataclass(frozen=True, slots=True)
class RunHead:
    """A run's status, its last sequence (0 without events) and the first one that is still kept."""

    status: str
    last: int
    first: int

    def start(self, after: int) -> Start:
        """Decide whether a client that has everything up to `after` can go on from there."""
        oldest = self.first - 1
        fits = oldest <= after <= self.last
        mode = ResumeMode.RESUMED if fits else ResumeMode.RESET
        return Start(mode, after if fits else oldest, self.last, self.status)


class EventLog(Protocol):
    """The committed events of runs, as a subscription reads them."""

    async def head(self, run_id: UUID) -> RunHead | None:
        """Where the run's events begin and end; None when there is no such run."""
        ...

    async def read(self, run_id: UUID, after: int, limit: int) -> list[StoredEvent]:
        """The first `limit` events behind `after`, in order."""
        ...


class EventReader:
    """Reads committed rows. Every method may raise one of `DATABASE_ERRORS`."""

    def __init__(self, pool: "asyncpg.Pool[asyncpg.Record]") -> None:
        self._pool = pool

    async def head(self, run_id: UUID) -> RunHead | None:
        """Where the run's events begin and end; None when there is no such run."""
        row = await self._pool.fetchrow(_HEAD, run_id)
        if row is None:
            return None
        last: int = row["last_sequence"]
        first: int | None = row["first"]
        return RunHead(row["status"], last, last + 1 if first is None else first)

    async def read(self, run_id: UUID, after: int, limit: int) -> list[StoredEvent]:
        """The first `limit` events behind `after`, in order."""
        return [_stored(run_id, row) for row in await self._pool.fetch(_READ, run_id, after, limit)]

    async def news(self, cursors: Mapping[UUID, int], limit: int) -> dict[UUID, list[StoredEvent]]:
        """For each run that has events behind its cursor, the first `limit` of them, in one query."""
        rows = await self._pool.fetch(_NEWS, list(cursors), list(cursors.values()), limit)
        found: dict[UUID, list[StoredEvent]] = {}
        for row in rows:
            run_id = _plain_uuid(row["run_id"])
            found.setdefault(run_id, []).append(_stored(run_id, row))
        return found

    async def states(self, run_ids: Collection[UUID]) -> list[RunState]:
        """How these runs stand; those that do not exist are left out."""
        return [_state(row) for row in await self._pool.fetch(_STATES_BY_ID, list(run_ids))]

    async def unfinished(self) -> list[RunState]:
        """How every run stands that is not over, or that is younger than a minute."""
        return [_state(row) for row in await self._pool.fetch(_STATES_UNFINISHED)]


async def patiently(read: Callable[[], Awaitable[T]], *, pause_seconds: float) -> T:
    """Read, and again after a pause for as long as the database cannot be reached."""
    while True:
        try:
            return await read()
        except DATABASE_ERRORS as error:
            logger.warning("events cannot be read, trying again: %s", error)
        await asyncio.sleep(pause_seconds)


def _stored(run_id: UUID, row: asyncpg.Record) -> StoredEvent:
    sequence, kind = row["sequence"], row["type"]
    at = row["at"].astimezone(UTC).isoformat().replace("+00:00", "Z")
    # `data` comes as JSON text from the database and goes out as it is, unparsed.
    text = (
        f'{{"event":{json.dumps(kind)},"run_id":"{run_id}","sprint_id":"{run_id}","sequence":{sequence},'
        f'"timestamp":"{at}","phase":{json.dumps(row["phase"])},"attempt":{json.dumps(row["attempt"])},'
        f'"trace_id":{json.dumps(row["trace_id"])},"data":{row["data"]}}}'
    )
    return StoredEvent(sequence, kind, text.encode())


def _state(row: asyncpg.Record) -> RunState:
    return RunState.model_validate({**row, "run_id": _plain_uuid(row["run_id"])})


def _plain_uuid(value: UUID) -> UUID:
    # The driver's own UUID class is equal to ours but slower wherever it is printed or hashed.
    return UUID(int=value.int)
