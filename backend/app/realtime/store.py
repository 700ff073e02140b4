"""Writes events: numbered per run without gaps, in the transaction that makes them true."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

import asyncpg
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.websocket_events import Event

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

# One statement numbers and inserts: the run's row lock makes number order and commit order the same,
# which an identity column would not.
_APPEND = """
    WITH counter AS (
        UPDATE runs SET last_sequence = last_sequence + {count}
        WHERE id = CAST(:run_id AS uuid) AND (
            CAST(:fenced AS boolean) IS FALSE
            OR (
                (fence_job, fence_try) = (CAST(:job AS bigint), CAST(:try AS int))
                AND status NOT IN ('completed', 'failed', 'cancelled')
            )
        )
        RETURNING last_sequence AS last
    ), added AS (
        INSERT INTO events (run_id, sequence, type, phase, attempt, data, at, trace_id)
        SELECT CAST(:run_id AS uuid), counter.last - {count} + new.position,
               new.type, new.phase, new.attempt, CAST(new.data AS jsonb), new.at, new.trace_id
        FROM counter, {rows} AS new (type, phase, attempt, data, at, trace_id, position)
    )
    SELECT last FROM counter
"""
_MANY = _APPEND.format(
    count="cardinality(CAST(:type AS text[]))",
    rows="""
        unnest(
            CAST(:type AS text[]), CAST(:phase AS text[]), CAST(:attempt AS int[]),
            CAST(:payload AS text[]), CAST(:time AS timestamptz[]), CAST(:trace AS text[])
        ) WITH ORDINALITY
    """,
)
# Most batches of progress are one event, and arrays cost the server as much as half of the rest.
_ONE = _APPEND.format(
    count="1",
    rows="""(VALUES (
        CAST(:type AS text), CAST(:phase AS text), CAST(:attempt AS int),
        CAST(:payload AS text), CAST(:time AS timestamptz), CAST(:trace AS text), 1
    ))""",
)
_NAMES = ("run_id", "fenced", "job", "try", "type", "phase", "attempt", "payload", "time", "trace")
_MANY_FOR_SESSIONS = text(_MANY)


def _numbered(statement: str) -> str:
    """Name the parameters as the driver does, in the order of `_NAMES`."""
    return re.sub(r":(\w+)", lambda found: f"${_NAMES.index(found[1]) + 1}", statement)


_ONE_FOR_THE_DRIVER, _MANY_FOR_THE_DRIVER = _numbered(_ONE), _numbered(_MANY)

_LOCK = "SELECT FROM runs WHERE id = $1 FOR UPDATE"
# A batch is stored as a whole or not at all, so its first event speaks for it.
_FIND = """
    SELECT runs.last_sequence FROM runs JOIN events ON run_id = id AND sequence > last_sequence - $2
    WHERE id = $1 AND type = $3 AND at = $4 AND data = CAST($5 AS text)::jsonb LIMIT 1
"""
_LOOK_BACK = 5_000
"""Events among which one is looked for that may have been stored already."""


@dataclass(frozen=True, slots=True)
class Fence:
    """The queue job that may write to a run: its id and how often it was tried."""

    job_id: int
    attempt: int


async def append_events(
    session: AsyncSession, run_id: UUID, events: Sequence[Event], *, fence: Fence | None = None
) -> int | None:
    """Append events of one run inside the session's transaction.

    Returns:
        The last sequence given; None when nothing was written, because `fence` no longer holds, the run
        is over or does not exist, or there was nothing to write.
    """
    if not events:
        return None
    values = (*_fenced(run_id, fence), *_columns(events))
    named: dict[str, Any] = dict(zip(_NAMES, values, strict=True))
    last: int | None = (await session.execute(_MANY_FOR_SESSIONS, named)).scalar_one_or_none()
    return last


async def append_at_once(
    connection: Connection, run_id: UUID, fence: Fence, events: Sequence[Event]
) -> int | None:
    """Append at least one event of one run in a transaction of its own: one statement, one round trip.

    Returns:
        As `append_events`.

    Raises:
        asyncpg.PostgresError: or another of the driver's errors; the events may be stored nevertheless when
            it was the connection that failed.
    """
    if len(events) == 1:
        statement, values = _ONE_FOR_THE_DRIVER, _row(events[0])
    else:
        statement, values = _MANY_FOR_THE_DRIVER, _columns(events)
    last: int | None = await connection.fetchval(statement, *_fenced(run_id, fence), *values)
    return last


async def append_again(
    connection: Connection, run_id: UUID, fence: Fence, events: Sequence[Event]
) -> int | None:
    """Append events that may be stored already, because the answer to the same request was lost.

    Returns:
        As `append_events`; the run's last sequence when they were stored already.

    Raises:
        asyncpg.PostgresError: as `append_at_once`.
    """
    first = events[0]
    async with connection.transaction():
        # Two statements: what the lost request has committed is seen by one that begins behind the lock.
        await connection.execute(_LOCK, run_id)
        stored: int | None = await connection.fetchval(
            _FIND, run_id, _LOOK_BACK, first.event.value, first.timestamp, _payload(first)
        )
        return stored or await append_at_once(connection, run_id, fence, events)


def _fenced(run_id: UUID, fence: Fence | None) -> tuple[UUID, bool, int, int]:
    return run_id, fence is not None, fence.job_id if fence else 0, fence.attempt if fence else 0


def _columns(events: Sequence[Event]) -> tuple[list[Any], ...]:
    return tuple(map(list, zip(*map(_row, events), strict=True)))


def _row(event: Event) -> tuple[Any, ...]:
    return event.event.value, event.phase, event.attempt, _payload(event), event.timestamp, event.trace_id


def _payload(event: Event) -> str:
    return event.data.model_dump_json().replace("\\u0000", "\\u2400")
