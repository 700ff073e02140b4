"""What a sprint costs beside many that are over."""

from contextlib import AsyncExitStack
from pathlib import Path

from sqlalchemy import text

from benchmarks.engine import Engine, open_engine, sprint
from benchmarks.figures import Series

TITLE = "growth: a sprint of 5 attempts beside 100 and beside 100,000 that are over"
FEW, MANY = 100, 100_000
ROUNDS, ATTEMPTS = 12, 5
RATIO_TARGET = 1.2

_RUNS = """
    INSERT INTO runs (id, kind, name, goal, phases, phase, policy, agent, source, status, base_commit,
                      head_commit, created_by, last_sequence, finished_at)
    SELECT gen_random_uuid(), 'sprint', 'old', 'old', '{coding}', 'coding', '{}', '{"backend": "scripted"}',
           '{}', 'completed', repeat('0', 40), repeat('0', 40), 'benchmark', 3, now()
    FROM generate_series(1, :count)
"""
_REST = (
    """
    INSERT INTO attempts (id, run_id, phase, number, claim, status, prompt, optimization_context,
                          base_commit, head_commit)
    SELECT gen_random_uuid(), id, 'coding', 1, gen_random_uuid(), 'failed', repeat('prompt ', 50), '{}',
           repeat('0', 40), repeat('1', 40)
    FROM runs WHERE created_by = 'benchmark' AND name = 'old'
    """,
    """
    INSERT INTO candidates (id, attempt_id, index, agent, provider, output, metrics)
    SELECT gen_random_uuid(), id, 0, 'a', 'p', 'done', '{}' FROM attempts WHERE prompt LIKE 'prompt %'
    """,
    """
    INSERT INTO events (run_id, sequence, type, phase, attempt, data, at)
    SELECT id, n, 'agent.progress', 'coding', 1, '{"lines": []}', now()
    FROM runs, generate_series(1, 3) n WHERE created_by = 'benchmark' AND name = 'old'
    """,
)


async def measure(place: Path) -> list[Series]:
    """Let sprints take turns on two engines, each with a separate database."""
    async with AsyncExitStack() as stack:
        few = await stack.enter_async_context(open_engine(place / "few"))
        many = await stack.enter_async_context(open_engine(place / "many"))
        await _fill(few, FEW)
        await _fill(many, MANY)
        for engine in (few, many):
            await _sprint_ms(engine)
        samples: dict[str, list[float]] = {"few": [], "many": []}
        for number in range(ROUNDS):
            for name, engine in (("few", few), ("many", many))[:: 1 if number % 2 else -1]:
                samples[name].append(await _sprint_ms(engine))
    ratios = [many / few for few, many in zip(samples["few"], samples["many"], strict=True)]
    return [
        Series(f"sprint beside {FEW}", samples["few"]),
        Series(f"sprint beside {MANY:,}", samples["many"]),
        Series("ratio", ratios, unit="", target=RATIO_TARGET),
    ]


async def _fill(engine: Engine, count: int) -> None:
    async with engine.sessions.begin() as session:
        await session.execute(text(_RUNS), {"count": count})
        for each in _REST:
            await session.execute(text(each))
    async with engine.sessions() as session:
        await session.connection(execution_options={"isolation_level": "AUTOCOMMIT"})
        await session.execute(text("VACUUM ANALYZE"))


async def _sprint_ms(engine: Engine) -> float:
    run_id = (await engine.sprints.start(sprint(max_attempts=ATTEMPTS), "benchmark")).id
    await engine.rest(run_id)
    events = await engine.events(run_id)
    return (events[-1].at - events[0].at) * 1000
