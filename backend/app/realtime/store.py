"""Writes events: numbered per run without gaps, in the transaction that makes them true."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.websocket_events import Event

# One statement numbers and inserts: the run's row lock makes number order and commit order the same,
# which an identity column would not.
_APPEND = text(
    """
    WITH counter AS (
        UPDATE runs SET last_sequence = last_sequence + cardinality(CAST(:types AS text[]))
        WHERE id = :run_id AND (
            CAST(:fenced AS boolean) IS FALSE
            OR ((fence_job, fence_try) = (:job, :try) AND status NOT IN ('completed', 'failed', 'cancelled'))
        )
        RETURNING last_sequence - cardinality(CAST(:types AS text[])) AS before
    )
    INSERT INTO events (run_id, sequence, type, phase, attempt, data, at, trace_id)
    SELECT :run_id, counter.before + new.position, new.type, new.phase, new.attempt,
           CAST(new.data AS jsonb), new.at, new.trace_id
    FROM counter, unnest(
        CAST(:types AS text[]), CAST(:phases AS text[]), CAST(:attempts AS int[]),
        CAST(:payloads AS text[]), CAST(:times AS timestamptz[]), CAST(:traces AS text[])
    ) WITH ORDINALITY AS new (type, phase, attempt, data, at, trace_id, position)
    RETURNING sequence
    """
)


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
    parameters: dict[str, Any] = {
        "run_id": run_id,
        "fenced": fence is not None,
        "job": fence.job_id if fence else 0,
        "try": fence.attempt if fence else 0,
        "types": [event.event.value for event in events],
        "phases": [event.phase for event in events],
        "attempts": [event.attempt for event in events],
        "payloads": [event.data.model_dump_json().replace("\\u0000", "\\u2400") for event in events],
        "times": [event.timestamp for event in events],
        "traces": [event.trace_id for event in events],
    }
    result = await session.execute(_APPEND, parameters)
    return max(result.scalars().all(), default=None)
