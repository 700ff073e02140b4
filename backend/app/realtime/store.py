"""Writes events in the transaction that they report on, numbered without gaps in each run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID, uuid4

import asyncpg
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.websocket_events import Event
from app.schemas.text import storable_document

# One statement numbers and inserts. The run's row lock puts numbers and commits in the same order, which an
# identity column would not.
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
        INSERT INTO events (run_id, sequence, type, phase, attempt, data, at, trace_id, batch)
        SELECT CAST(:run_id AS uuid), counter.last - {count} + new.position,
               new.type, new.phase, new.attempt, CAST(new.data AS jsonb), new.at, new.trace_id,
               CASE WHEN new.position = 1 THEN CAST(:batch AS uuid) END
        FROM counter, {rows} AS new (type, phase, attempt, data, at, trace_id, position)
    )
    SELECT last FROM counter
"""
_MANY_NAMED = _APPEND.format(
    count="cardinality(CAST(:type AS text[]))",
    rows="""
        unnest(
            CAST(:type AS text[]), CAST(:phase AS text[]), CAST(:attempt AS int[]),
            CAST(:payload AS text[]), CAST(:time AS timestamptz[]), CAST(:trace AS text[])
        ) WITH ORDINALITY
    """,
)
# Most batches of progress hold one event, and arrays would cost the server half as much again.
_ONE_NAMED = _APPEND.format(
    count="1",
    rows="""(VALUES (
        CAST(:type AS text), CAST(:phase AS text), CAST(:attempt AS int),
        CAST(:payload AS text), CAST(:time AS timestamptz), CAST(:trace AS text), 1
    ))""",
)
_NAMES = ("run_id", "fenced", "job", "try", "batch", "type", "phase", "attempt", "payload", "time", "trace")
_MANY_FOR_SESSIONS = text(_MANY_NAMED)


def _numbered(statement: str) -> str:
    """Replace named parameters by the driver's numbered ones, in the order of `_NAMES`."""
    return re.sub(r":(\w+)", lambda found: f"${_NAMES.index(found[1]) + 1}", statement)


_ONE, _MANY = _numbered(_ONE_NAMED), _numbered(_MANY_NAMED)

_BATCH_INDEX = "ux_events_run_id_batch"


class FetchValue(Protocol):
    """Executes one statement in a separate transaction."""

    async def __call__(self, statement: str, *values: object) -> Any:
        """Return the first value of the first row; None without a row."""
        ...


@dataclass(frozen=True, slots=True)
class Fence:
    """The queue job that may write to a run: its id and the number of its try."""

    job_id: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Events of one run that are stored together or not at all; a repetition has the same key."""

    events: Sequence[Event]
    key: UUID = field(default_factory=uuid4)


async def append_events(
    session: AsyncSession, run_id: UUID, events: Sequence[Event], *, fence: Fence | None = None
) -> int | None:
    """Append events of one run inside the session's transaction.

    Returns:
        The last sequence assigned; None if nothing was written, because `fence` no longer holds, the run is
        over or does not exist, or there was nothing to write.
    """
    if not events:
        return None
    values = (*_fenced(run_id, fence), None, *_columns(events))
    named: dict[str, Any] = dict(zip(_NAMES, values, strict=True))
    last: int | None = (await session.execute(_MANY_FOR_SESSIONS, named)).scalar_one_or_none()
    return last


async def append_batch(fetch_value: FetchValue, run_id: UUID, fence: Fence, batch: Batch) -> bool:
    """Append a batch of one run in a separate transaction: one statement, one round trip.

    Repetition is harmless: however often and in whatever order requests reach the server,
    the batch is stored once.

    Returns:
        False if `fence` no longer holds, or the run is over or does not exist.

    Raises:
        asyncpg.PostgresError: or another error of the driver; after the loss of a connection
            the batch may be stored.
    """
    events = batch.events
    if not events:
        return True
    statement, values = (_ONE, _row(events[0])) if len(events) == 1 else (_MANY, _columns(events))
    try:
        last = await fetch_value(statement, *_fenced(run_id, fence), batch.key, *values)
    except asyncpg.UniqueViolationError as error:
        if error.constraint_name != _BATCH_INDEX:
            raise
        return True
    return last is not None


def _fenced(run_id: UUID, fence: Fence | None) -> tuple[UUID, bool, int, int]:
    return run_id, fence is not None, fence.job_id if fence else 0, fence.attempt if fence else 0


def _columns(events: Sequence[Event]) -> tuple[list[Any], ...]:
    return tuple(map(list, zip(*map(_row, events), strict=True)))


def _row(event: Event) -> tuple[Any, ...]:
    return event.event.value, event.phase, event.attempt, _payload(event), event.timestamp, event.trace_id


def _payload(event: Event) -> str:
    return storable_document(event.data.model_dump_json())
