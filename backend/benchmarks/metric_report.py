"""What the report of all metrics costs: over 100,000 runs, over the last week of them, and over 1,000.

The reference counts all runs as runs that are under way are counted: from their attempts and escalations.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from alembic.script import ScriptDirectory
from sqlalchemy import text

from app.composition.database import open_sessions
from app.core.config import Settings
from app.db.embedded.server import acquire
from app.db.engine import Sessions
from app.db.migrate import alembic_config, upgrade_to_head
from app.schemas.api.metrics import MetricQuery
from app.services.measure.metrics import MetricsService
from benchmarks.figures import Series

TITLE = "metrics: the report of 1,000 and of 100,000 runs, as /api/v1/metrics gives it"
FEW, MANY = 1_000, 100_000
ROUNDS = 7
TARGET_MS = 1_500.0

_FILL = (
    # A run every five minutes; each third one escalates, each tenth one asked a model.
    """
    INSERT INTO runs (id, kind, name, goal, phases, phase, policy, agent, source, status,
                      base_commit, head_commit, created_by, used_requests, used_cost_usd, created_at,
                      finished_at)
    SELECT gen_random_uuid(), 'sprint', 'run ' || n, repeat('goal ', 40),
           '{discovery,coding,verification}', NULL, '{}', '{"backend": "scripted"}', '{}',
           CASE WHEN n % 3 = 0 THEN 'failed' ELSE 'completed' END, repeat('0', 40), repeat('0', 40),
           'benchmark', CASE WHEN n % 10 = 0 THEN n % 17 ELSE 0 END, n % 7,
           now() - n * interval '5 minutes', now()
    FROM generate_series(1, :count) n
    """,
    """
    INSERT INTO attempts (id, run_id, phase, number, claim, status, prompt, optimization_context, base_commit)
    SELECT gen_random_uuid(), r.id, p.phase, n, gen_random_uuid(),
           CASE WHEN p.phase = 'coding' AND (n < p.attempts OR r.status = 'failed') THEN 'failed'
                ELSE 'passed' END,
           repeat('prompt ', 300), '{}', repeat('0', 40)
    FROM runs r,
         LATERAL (VALUES ('discovery', 1),
                         ('coding', CASE WHEN r.status = 'failed' THEN 3 ELSE 1 + length(r.name) % 2 END),
                         ('verification', CASE WHEN r.status = 'failed' THEN 0 ELSE 1 END))
         p (phase, attempts),
         LATERAL generate_series(1, p.attempts) n
    """,
    """
    INSERT INTO candidates (id, attempt_id, index, agent, provider, output, metrics)
    SELECT gen_random_uuid(), id, 0, 'a', 'p', repeat('output ', 40), '{}' FROM attempts
    """,
    """
    INSERT INTO evaluations (id, candidate_id, position, evaluator, version, category, gate, status, passed,
                             score, feedback, criteria, suggestions, metadata, duration_ms)
    SELECT gen_random_uuid(), c.id, 0, e.name, '1', 'compliance', true,
           CASE WHEN e.fails THEN a.status ELSE 'passed' END,
           a.status = 'passed', 0.5, repeat('feedback ', 30), '[]', '{}', '{}', floor(e.ms * (0.5 + random()))
    FROM candidates c JOIN attempts a ON a.id = c.attempt_id,
         (VALUES ('ruff_lint', 100, false), ('pytest', 4000, true), ('type_check', 1500, false))
         e (name, ms, fails)
    """,
    """
    INSERT INTO escalations (id, run_id, phase, attempt, reason_kind, reason, status, decision,
                             created_at, decided_at)
    SELECT gen_random_uuid(), id, 'coding', 3, 'attempts_exhausted', 'failed', 'resolved', 'reject',
           now() - interval '1 hour', now()
    FROM runs WHERE status = 'failed'
    """,
    """
    INSERT INTO verdict_marks (id, evaluation_id, was_right, marked_by)
    SELECT gen_random_uuid(), id, random() < 0.9, 'Ada' FROM evaluations
    WHERE status = 'failed' AND random() < 0.05
    """,
)


async def measure(place: Path) -> list[Series]:
    """Ask for the reports in turn, each on a separate database."""
    async with AsyncExitStack() as stack:
        few = await stack.enter_async_context(_filled(place / "few", FEW))
        many = await stack.enter_async_context(_filled(place / "many", MANY))
        unkept = await stack.enter_async_context(_filled(place / "unkept", MANY, kept=False))
        everything = MetricQuery()
        week = MetricQuery(since=datetime.now(UTC) - timedelta(days=7))
        asked = {
            f"all time, {FEW:,} runs": (few, everything),
            f"all time, {MANY:,} runs": (many, everything),
            f"last week of {MANY:,} runs": (many, week),
            f"reference: {MANY:,} runs, counted from their attempts": (unkept, everything),
        }
        samples: dict[str, list[float]] = {name: [] for name in asked}
        for number in range(ROUNDS):
            for name, (sessions, query) in list(asked.items())[:: 1 if number % 2 else -1]:
                samples[name].append(await _report_ms(sessions, query))
    first, second, third, reference = samples.values()
    for_counting = [kept / counted for kept, counted in zip(second, reference, strict=True)]
    ratios = [many / few for few, many in zip(first, second, strict=True)]
    names = list(samples)
    return [
        Series(names[0], first),
        Series(names[1], second, target=TARGET_MS),
        Series(names[2], third),
        Series(names[3], reference),
        Series("ratio to the reference, of all runs", for_counting, unit=""),
        Series(f"ratio, for {MANY // FEW} times the runs", ratios, unit=""),
    ]


@asynccontextmanager
async def _filled(place: Path, count: int, *, kept: bool = True) -> AsyncGenerator[Sessions]:
    lease = await asyncio.to_thread(acquire, place, throwaway=True)
    try:
        await upgrade_to_head(lease.url)
        async with open_sessions(Settings(DATA_DIR=place), lease.url) as sessions:
            await _fill(sessions, count, _keep(lease.url) if kept else "")
            yield sessions
    finally:
        lease.release()


async def _fill(sessions: Sessions, count: int, keep: str) -> None:
    async with sessions.begin() as session:
        for each in filter(None, (*_FILL, keep)):
            await session.execute(text(each), {"count": count} if ":count" in each else {})
    async with sessions() as session:
        await session.connection(execution_options={"isolation_level": "AUTOCOMMIT"})
        await session.execute(text("VACUUM ANALYZE"))


def _keep(url: str) -> str:
    """What the migration does for runs of before: these were not ended by the service either."""
    statement: str = ScriptDirectory.from_config(alembic_config(url)).get_revision("0011").module.FILL
    return statement


async def _report_ms(sessions: Sessions, query: MetricQuery) -> float:
    began = time.perf_counter()
    await MetricsService(sessions).report(query)
    return (time.perf_counter() - began) * 1000
