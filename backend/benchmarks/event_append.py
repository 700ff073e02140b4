"""How fast events are stored by ten runs at once, against one bare statement of the database driver."""

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import logfire

from app.core.config import Settings
from app.core.event_data import AgentProgressData, ProgressLine
from app.core.websocket_events import AgentProgressEvent
from app.db.embedded.server import acquire
from app.db.migrate import upgrade_to_head
from app.opening import open_sessions
from app.realtime.store import Fence
from app.services.recording import Recorder
from benchmarks.event_runs import add_run
from benchmarks.figures import Series

TITLE = "append: events stored per second by ten runs at once, one event each time"
RUNS = 10
EVENTS = 20
ROUNDS = 9
TARGET_RATIO = 0.8

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
        """Nobody listens here."""


async def measure(place: Path) -> list[Series]:
    """Let both store random lines in turns, on one database that really writes to disk."""
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    lease = await asyncio.to_thread(acquire, place, throwaway=True)
    try:
        await upgrade_to_head(lease.url)
        async with (
            open_sessions(Settings(DATA_DIR=place), lease.url) as sessions,
            asyncpg.create_pool(lease.url, min_size=RUNS, max_size=RUNS) as pool,
        ):
            run_ids = [await add_run(sessions, uuid4()) for _ in range(RUNS)]
            recorder = Recorder(sessions, _Silence())

            async def ours(run_id: UUID, text: str) -> None:
                now = datetime.now(UTC)
                data = AgentProgressData(lines=[ProgressLine(text=text, at=now)])
                event = AgentProgressEvent(
                    run_id=run_id, sprint_id=run_id, phase="coding", attempt=1, data=data
                )
                if not await recorder.progress(run_id, Fence(0, 0), [event]):
                    raise AssertionError("the run was taken away")

            async def bare(run_id: UUID, text: str) -> None:
                now = datetime.now(UTC)
                line = {"text": text, "at": now.isoformat()}
                await pool.execute(_BARE, run_id, json.dumps({"lines": [line], "candidate": 0}), now)

            return await _in_turns(run_ids, ours, bare)
    finally:
        lease.release()


async def _in_turns(run_ids: list[UUID], ours: Append, bare: Append) -> list[Series]:
    rates: dict[Append, list[float]] = {ours: [], bare: []}
    for turn in range(ROUNDS + 1):
        for append in (ours, bare) if turn % 2 else (bare, ours):
            rate = await _rate(run_ids, append)
            if turn:  # the first one fills caches
                rates[append].append(rate)
    ratios = [one / other for one, other in zip(rates[ours], rates[bare], strict=True)]
    return [
        Series("the service's way", rates[ours], "/s"),
        Series("one bare statement", rates[bare], "/s"),
        Series("slowdown (bare / service)", [1 / each for each in ratios], "x", 1 / TARGET_RATIO),
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
