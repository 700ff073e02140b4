"""Reads events in the form in which they are sent, and run states for lists, directly through asyncpg."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Protocol, Self, TypeVar
from uuid import UUID

import asyncpg

from app.core.event_frames import DeliveryStart, ResumeMode
from app.realtime.identity import epoch_expression
from app.realtime.protocol import text_message, text_of
from app.schemas.runs import RunKind

logger = logging.getLogger(__name__)

DATABASE_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
"""The errors of an unavailable, restarting or overloaded database; a timeout is an OSError."""

_COLUMNS = "sequence, type, phase, attempt, data, at, trace_id"
_HEAD = """
    SELECT kind, status, last_sequence, (SELECT min(sequence) FROM events WHERE run_id = runs.id) AS first,
           {epoch} AS epoch
    FROM runs WHERE id = $1
"""
_WATCHED = """
    SELECT {epoch} AS epoch, coalesce(array_agg(id), '{{}}') AS ids,
           coalesce(array_agg(last_sequence), '{{}}') AS lasts
    FROM runs WHERE id = ANY($1::uuid[])
"""
_READ = f"""
    SELECT {_COLUMNS} FROM events WHERE run_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3
"""  # noqa: S608 (constants only)
_READ_CHOSEN = f"""
    SELECT {_COLUMNS} FROM events
    WHERE run_id = $1 AND sequence > $2 AND (cardinality($4::text[]) = 0 OR type = ANY($4::text[]))
      AND ($5::text IS NULL OR phase = $5::text) AND ($6::int IS NULL OR attempt = $6::int)
    ORDER BY sequence LIMIT $3
"""  # noqa: S608 (constants only)
# The join with `runs` keeps a poll cheap: a run without new events costs one look at its row.
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
# An index serves both conditions. The second finds a run that started and ended between two looks.
_MARKS = """
    SELECT id, status, last_sequence, version FROM runs
    WHERE status IN ('queued', 'active', 'waiting') OR created_at > now() - interval '1 minute'
"""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """A committed event; `message` is its envelope, framed once as a WebSocket message for all clients."""

    sequence: int
    type: str
    message: bytes

    @classmethod
    def of(cls, sequence: int, kind: str, wire: bytes) -> Self:
        """Return the event whose envelope is the JSON text `wire`."""
        return cls(sequence, kind, text_message(wire))

    @property
    def wire(self) -> bytes:
        """Return the envelope as JSON text."""
        return text_of(self.message)


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events of a run are wanted: of these types (empty for all), of a phase, of an attempt."""

    types: tuple[str, ...] = ()
    phase: str | None = None
    attempt: int | None = None


@dataclass(frozen=True, slots=True)
class RunHead:
    """A run's status, last sequence (0 without events), first sequence still kept, epoch and kind."""

    status: str
    last: int
    first: int
    epoch: str
    kind: RunKind = RunKind.SPRINT

    def start(self, after: int, epoch: str | None = None) -> DeliveryStart:
        """Decide whether a client that has everything up to `after` of `epoch` can continue from there.

        A client that does not know its epoch is assumed to be in this one.
        """
        oldest = self.first - 1
        is_same = after == 0 or epoch is None or epoch == self.epoch
        fits = is_same and oldest <= after <= self.last
        mode = ResumeMode.RESUMED if fits else ResumeMode.RESET
        return DeliveryStart(mode, after if fits else oldest, self.last, self.status, self.epoch, self.kind)


@dataclass(frozen=True, slots=True)
class Mark:
    """Values of a run that show whether it has changed: each change of the run changes at least one."""

    status: str
    last_sequence: int
    version: int


@dataclass(frozen=True, slots=True)
class Watched:
    """The last sequence of each existing run among those asked for, and the epoch of all."""

    epoch: str
    lasts: Mapping[UUID, int]


class EventLog(Protocol):
    """The committed events of runs, as a subscription reads them."""

    async def head(self, run_id: UUID) -> RunHead | None:
        """Return where the run's events start and end; None if there is no such run."""
        ...

    async def read(self, run_id: UUID, after: int, limit: int) -> list[StoredEvent]:
        """Return the first `limit` events after `after`, in order."""
        ...


class EventReader:
    """Reads committed rows. Every method may raise one of `DATABASE_ERRORS`."""

    def __init__(self, pool: "asyncpg.Pool[asyncpg.Record]") -> None:
        self._pool = pool
        self._epoch: str | None = None

    async def head(self, run_id: UUID) -> RunHead | None:
        """Return where the run's events start and end; None if there is no such run."""
        row = await self._pool.fetchrow(await self._with_epoch(_HEAD), run_id)
        if row is None:
            return None
        last: int = row["last_sequence"]
        first: int | None = row["first"]
        oldest = last + 1 if first is None else first
        return RunHead(row["status"], last, oldest, row["epoch"], RunKind(row["kind"]))

    async def watched(self, run_ids: Collection[UUID]) -> Watched:
        """Return the last sequences of these runs."""
        row = await self._pool.fetchrow(await self._with_epoch(_WATCHED), list(run_ids))
        if row is None:
            raise AssertionError("an aggregate always has a row")
        return Watched(row["epoch"], dict(zip(map(_plain_uuid, row["ids"]), row["lasts"], strict=True)))

    async def read(self, run_id: UUID, after: int, limit: int) -> list[StoredEvent]:
        """Return the first `limit` events after `after`, in order."""
        return [_stored(run_id, row) for row in await self._pool.fetch(_READ, run_id, after, limit)]

    async def read_chosen(
        self, run_id: UUID, after: int, limit: int, choice: EventFilter
    ) -> list[StoredEvent]:
        """Return the first `limit` chosen events after `after`, in order."""
        wanted = (list(choice.types), choice.phase, choice.attempt)
        return [
            _stored(run_id, row)
            for row in await self._pool.fetch(_READ_CHOSEN, run_id, after, limit, *wanted)
        ]

    async def news(self, cursors: Mapping[UUID, int], limit: int) -> dict[UUID, list[StoredEvent]]:
        """Return the first `limit` events after its cursor of each run that has any, in one query."""
        rows = await self._pool.fetch(_NEWS, list(cursors), list(cursors.values()), limit)
        found: dict[UUID, list[StoredEvent]] = {}
        for row in rows:
            run_id = _plain_uuid(row["run_id"])
            found.setdefault(run_id, []).append(_stored(run_id, row))
        return found

    async def epoch(self) -> str:
        """Return the epoch of the events."""
        epoch: str = await self._pool.fetchval(await self._with_epoch("SELECT {epoch}"))
        return epoch

    async def marks(self) -> dict[UUID, Mark]:
        """Return the mark of every run that is not over or is younger than a minute."""
        return {
            _plain_uuid(row["id"]): Mark(row["status"], row["last_sequence"], row["version"])
            for row in await self._pool.fetch(_MARKS)
        }

    async def _with_epoch(self, statement: str) -> str:
        if self._epoch is None:
            self._epoch = await epoch_expression(self._pool)
        return statement.format(epoch=self._epoch)


async def until_readable(read: Callable[[], Awaitable[T]], *, pause_seconds: float) -> T:
    """Read, and try again after a pause while the database cannot be reached."""
    while True:
        try:
            return await read()
        except DATABASE_ERRORS as error:
            logger.warning("cannot read events, retrying: %s", error)
        await asyncio.sleep(pause_seconds)


def _stored(run_id: UUID, row: asyncpg.Record) -> StoredEvent:
    sequence, kind = row["sequence"], row["type"]
    at = row["at"].astimezone(UTC).isoformat().replace("+00:00", "Z")
    # `data` arrives as JSON text from the database and is sent unparsed.
    text = (
        f'{{"event":{json.dumps(kind)},"run_id":"{run_id}","sprint_id":"{run_id}","sequence":{sequence},'
        f'"timestamp":"{at}","phase":{json.dumps(row["phase"])},"attempt":{json.dumps(row["attempt"])},'
        f'"trace_id":{json.dumps(row["trace_id"])},"data":{row["data"]}}}'
    )
    return StoredEvent.of(sequence, kind, text.encode())


def _plain_uuid(value: UUID) -> UUID:
    # The driver's own UUID class is equal to Python's, but slower to print and to hash.
    return UUID(int=value.int)
