"""How many attempts two workers get through, each a process, when agents and gates cost nothing."""

import asyncio
from pathlib import Path

import logfire
from sqlalchemy import text

from app.db.embedded.server import acquire
from app.db.migrate import upgrade_to_head
from app.jobs.worker import WorkerTimings
from benchmarks.figures import Series
from benchmarks.processor import seconds_of, with_children
from harness.stage import Stage, open_stage

TITLE = "throughput: sprints of three attempts through 2 workers"
SPRINTS, WORKERS, AT_ONCE = 1_000, 2, 4
TARGET_MS = 1000 / 30  # 30 attempts a second

# In tenths of the attempts, so that the spread shows.
_SHARES = text(
    """
    WITH told AS (
        SELECT extract(epoch FROM at)::float8 AS at, ntile(10) OVER (ORDER BY at) AS part
        FROM events WHERE type = 'evaluation.completed'
    )
    SELECT 1000 * (max(at) - min(at)) / (count(*) - 1) FROM told GROUP BY part ORDER BY part
    """
)
_OVERHEADS = text(
    """
    SELECT extract(epoch FROM max(at) - min(at))::float8 * 1000 FROM events
    WHERE type IN ('attempt.started', 'evaluation.completed') GROUP BY run_id, phase, attempt
    """
)


async def measure(place: Path, sprints: int = SPRINTS) -> list[Series]:
    """Record all sprints first, then start the workers; times are those of the events."""
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    lease = await asyncio.to_thread(acquire, place / "server", throwaway=True)
    try:
        await upgrade_to_head(lease.url)
        async with open_stage(lease.url, place / "stage") as stage:
            for _ in range(sprints):
                await stage.sprint()
            for _ in range(WORKERS):
                stage.crew.start(timings=WorkerTimings(), concurrency=AT_ONCE)
            before = _processor(lease.home, stage)
            await stage.rest(seconds=3_600.0)
            used = [after - one for after, one in zip(_processor(lease.home, stage), before, strict=True)]
            async with stage.sessions() as session:
                shares = list((await session.scalars(_SHARES)).all())
                overheads = list((await session.scalars(_OVERHEADS)).all())
    finally:
        lease.release()
    count = len(overheads)
    return [
        Series("time for each attempt, all together", shares, target=TARGET_MS),
        Series(f"an attempt, {AT_ONCE} at once in each worker", overheads),
        *(
            Series(f"processor time of {name}, each attempt", [1000 * each / count])
            for name, each in zip(("workers and git", "Postgres"), used, strict=True)
        ),
    ]


def _processor(server: Path, stage: Stage) -> tuple[float, float]:
    """Seconds used so far by the workers with what they ran, and by the server."""
    postmaster = int((server / "data" / "postmaster.pid").read_text().splitlines()[0])
    workers = [each.pid for each in stage.crew.members if each.pid is not None]
    return seconds_of(workers), seconds_of(with_children(postmaster))
