"""How many attempts two workers get through, each a process, when agents and gates cost nothing."""

import asyncio
from pathlib import Path

import logfire
from sqlalchemy import text

from app.db.embedded.server import acquire
from app.db.migrate import upgrade_to_head
from app.jobs.worker import WorkerTimings
from benchmarks.figures import Series
from tests.faults.scene import scene

TITLE = "throughput: 1,000 sprints of three attempts through 2 workers"
SPRINTS, WORKERS, AT_ONCE = 1_000, 2, 4
TARGET_MS = 1000 / 30  # 30 attempts a second

# In tenths of the attempts, so that the spread shows.
_SHARES = text(
    """
    WITH told AS (
        SELECT extract(epoch FROM at)::float8 AS at, ntile(10) OVER (ORDER BY at) AS part
        FROM events WHERE type = 'evaluation.completed'
    )
    SELECT 1000 * (max(at) - min(at)) / count(*) FROM told GROUP BY part ORDER BY part
    """
)
_OVERHEADS = text(
    """
    SELECT extract(epoch FROM max(at) - min(at))::float8 * 1000 FROM events
    WHERE type IN ('attempt.started', 'evaluation.completed') GROUP BY run_id, phase, attempt
    """
)


async def measure(place: Path) -> list[Series]:
    """Record all sprints first, then start the workers; times are those of the events."""
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    lease = await asyncio.to_thread(acquire, place / "server", throwaway=True)
    try:
        await upgrade_to_head(lease.url)
        async with scene(lease.url, place / "scene", api=False) as stage:
            for _ in range(SPRINTS):
                await stage.sprint()
            for _ in range(WORKERS):
                stage.crew.start(timings=WorkerTimings(), concurrency=AT_ONCE)
            await stage.rest(seconds=3_600.0)
            async with stage.sessions() as session:
                shares = list((await session.scalars(_SHARES)).all())
                overheads = list((await session.scalars(_OVERHEADS)).all())
    finally:
        lease.release()
    return [
        Series("time for each attempt, all together", shares, target=TARGET_MS),
        Series(f"an attempt, {AT_ONCE} at once in each worker", overheads),
    ]
