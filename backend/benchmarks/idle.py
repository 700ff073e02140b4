"""What a service costs while nothing is to be done: with no run, and beside many that wait for a human."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import logfire
from sqlalchemy import text

from app.composition.database import open_sessions
from app.core.config import Settings
from app.db.embedded.server import acquire
from app.db.engine import Sessions
from app.db.migrate import upgrade_to_head
from benchmarks.event_servers import PhaseRunner
from benchmarks.figures import Series

TITLE = "idle: the service with its worker, while nothing waits and while 10,000 sprints wait, in turn"
WAITING = 10_000
ROUNDS = 4
SETTLE_SECONDS, SECONDS = 5.0, 20.0

_FILL = (
    """
    INSERT INTO runs (id, kind, name, goal, phases, phase, policy, agent, source, status, base_commit,
                      head_commit, created_by)
    SELECT gen_random_uuid(), 'sprint', 'old', 'old', '{coding}', 'coding', '{}', '{"backend": "scripted"}',
           '{}', 'waiting', repeat('0', 40), repeat('0', 40), 'benchmark'
    FROM generate_series(1, :count)
    """,
    """
    INSERT INTO escalations (id, run_id, phase, attempt, reason_kind, reason, remind_at)
    SELECT gen_random_uuid(), id, 'coding', 1, 'attempts_exhausted', 'failed', now() + interval '1 day'
    FROM runs
    """,
)
_EMPTY = ("DELETE FROM escalations", "DELETE FROM runs")
_LOG = ("ALTER SYSTEM SET log_statement = 'all'", "SELECT pg_reload_conf()")
_MARKS = (b"LOG:  statement: ", b"LOG:  execute ")
"""Before each statement in the server's log, by the simple protocol and by the extended one."""


async def measure(place: Path) -> list[Series]:
    """Count the statements in the server's log, and take the memory of the service's process, in turn."""
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    lease = await asyncio.to_thread(acquire, place / "server", throwaway=True)
    rates: dict[bool, list[float]] = {False: [], True: []}
    memory: dict[bool, list[float]] = {False: [], True: []}
    try:
        await upgrade_to_head(lease.url)
        async with open_sessions(Settings(DATA_DIR=place), lease.url) as sessions:
            await _each_alone(sessions, _LOG)
            with PhaseRunner(lease.url, place / "data", with_worker=True) as server:
                for turn in range(2 * ROUNDS):
                    waiting = turn % 2 == 1
                    await _change(sessions, _FILL if waiting else _EMPTY)
                    await asyncio.sleep(SETTLE_SECONDS)
                    rates[waiting].append(await _statements_a_second(lease.home / "server.log"))
                    memory[waiting].append(server.pss_kb() / 1024)
    finally:
        lease.release()
    return [
        Series("statements, nothing waits", rates[False], "/s"),
        Series(f"statements, {WAITING:,} wait", rates[True], "/s"),
        Series("memory, nothing waits", memory[False], "MB"),
        Series(f"memory, {WAITING:,} wait", memory[True], "MB"),
    ]


async def _change(sessions: Sessions, statements: Sequence[str]) -> None:
    async with sessions.begin() as session:
        for each in statements:
            await session.execute(text(each), {"count": WAITING} if ":count" in each else {})
    await _each_alone(sessions, ["VACUUM ANALYZE"])


async def _each_alone(sessions: Sessions, statements: Sequence[str]) -> None:
    """Execute each outside a transaction."""
    async with sessions() as session:
        for each in statements:
            await session.execute(text(each))


async def _statements_a_second(log: Path) -> float:
    with log.open("rb") as file:
        file.seek(0, 2)
        await asyncio.sleep(SECONDS)
        said = file.read()
    return sum(map(said.count, _MARKS)) / SECONDS
