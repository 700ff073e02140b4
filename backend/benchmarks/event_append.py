"""How fast events are stored by ten runs at once, against one bare statement of the database driver."""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import logfire
from asyncpg.prepared_stmt import PreparedStatement

from app.composition.database import open_sessions
from app.core.config import Settings
from app.core.events.agents import AgentProgressData, AgentProgressEvent, ProgressLine
from app.db.embedded.server import acquire
from app.db.migrate import upgrade_to_head
from app.realtime.store import Batch, Fence
from app.services.record.transactions import Recorder
from benchmarks.figures import Series
from harness.rows import add_run

TITLE = "append: events stored per second by ten runs at once, one event each time"
RUNS = 10
EVENTS = 40
ROUNDS = 15
TARGET_RATIO = 0.6

_BARE = """
    WITH counter AS (
        UPDATE runs SET last_sequence = last_sequence + 1 WHERE id = $1 RETURNING last_sequence
    )
    INSERT INTO events (run_id, sequence, type, phase, attempt, data, at)
    SELECT $1, last_sequence, 'agent.progress', 'coding', 1, $2::jsonb, $3 FROM counter
"""

Append = Callable[[UUID, str], Awaitable[None]]


class _Silence:
    def ring(self, run_id: UUID) -> None:
        """There are no listeners here."""


async def measure(place: Path) -> list[Series]:
    """Let all store random lines in turns, on one database that really writes to disk."""
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    lease = await asyncio.to_thread(acquire, place, throwaway=True)
    try:
        await upgrade_to_head(lease.url)
        async with (
            open_sessions(Settings(DATA_DIR=place), lease.url) as sessions,
            asyncpg.create_pool(lease.url, min_size=RUNS, max_size=RUNS) as pool,
        ):
            run_ids = [await add_run(sessions, uuid4()) for _ in range(RUNS)]
            async with _prepared(lease.url, run_ids) as prepared:
                ways = (_ours(Recorder(sessions, _Silence())), _bare(prepared), _pooled(pool))
                return await _in_turns(run_ids, *ways)
    finally:
        lease.release()


def _ours(recorder: Recorder) -> Append:
    async def append(run_id: UUID, text: str) -> None:
        data = AgentProgressData(lines=[ProgressLine(text=text, at=datetime.now(UTC))])
        event = AgentProgressEvent(run_id=run_id, sprint_id=run_id, phase="coding", attempt=1, data=data)
        if not await recorder.progress(run_id, Fence(0, 0), Batch([event])):
            raise AssertionError("the run was taken away")

    return append


def _bare(prepared: dict[UUID, "PreparedStatement[asyncpg.Record]"]) -> Append:
    async def append(run_id: UUID, text: str) -> None:
        await prepared[run_id].fetch(run_id, *_line(text))

    return append


def _pooled(pool: "asyncpg.Pool[asyncpg.Record]") -> Append:
    async def append(run_id: UUID, text: str) -> None:
        await pool.execute(_BARE, run_id, *_line(text))

    return append


def _line(text: str) -> tuple[str, datetime]:
    now = datetime.now(UTC)
    return json.dumps({"lines": [{"text": text, "at": now.isoformat()}], "candidate": 0}), now


@asynccontextmanager
async def _prepared(
    url: str, run_ids: list[UUID]
) -> AsyncGenerator[dict[UUID, "PreparedStatement[asyncpg.Record]"]]:
    """The reference that nothing can beat: a connection for each run, the statement prepared once."""
    connections = [await asyncpg.connect(url) for _ in run_ids]
    try:
        yield {run_id: await each.prepare(_BARE) for run_id, each in zip(run_ids, connections, strict=True)}
    finally:
        for each in connections:
            await each.close()


async def _in_turns(run_ids: list[UUID], ours: Append, bare: Append, pooled: Append) -> list[Series]:
    ways = (ours, bare, pooled)
    rates: dict[Append, list[float]] = {way: [] for way in ways}
    for turn in range(ROUNDS + 1):
        first = turn % len(ways)
        for way in (*ways[first:], *ways[:first]):
            rate = await _rate(run_ids, way)
            if turn:  # the first one fills caches
                rates[way].append(rate)
    slower = [other / one for one, other in zip(rates[ours], rates[bare], strict=True)]
    slower_than_pool = [other / one for one, other in zip(rates[ours], rates[pooled], strict=True)]
    return [
        Series("the service's way", rates[ours], "/s"),
        Series("one bare statement, a connection for each run", rates[bare], "/s"),
        Series("one bare statement, the driver's pool", rates[pooled], "/s"),
        Series("slowdown (bare / service)", slower, "x", 1 / TARGET_RATIO),
        Series("slowdown (pool / service)", slower_than_pool, "x"),
    ]


async def _rate(run_ids: list[UUID], append: Append) -> float:
    async def write(run_id: UUID) -> None:
        for _ in range(EVENTS):
            await append(run_id, secrets.token_hex(150))

    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for run_id in run_ids:
            group.create_task(write(run_id))
    return len(run_ids) * EVENTS / (time.perf_counter() - started)
