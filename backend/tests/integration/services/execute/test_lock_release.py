"""A job that was enqueued while the run's old one still ended is told of when the lock is released."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import pytest
from sqlalchemy import text

from app.db.engine import plain_url
from app.jobs.queue import enqueue_advance
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio

CHANNEL = "procrastinate_queue_v1#phaserunner"
END = "end"


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


@pytest.fixture
async def heard(database_url: str) -> AsyncGenerator[asyncio.Queue[str]]:
    connection = await asyncpg.connect(plain_url(database_url))
    queue = asyncio.Queue[str]()
    await connection.add_listener(CHANNEL, lambda *call: queue.put_nowait(str(call[-1])))
    try:
        yield queue
    finally:
        await connection.close()


async def told(cases: UseCases, heard: asyncio.Queue[str]) -> int:
    """How often the queue's workers were told something until now."""
    async with cases.sessions.begin() as session:
        await session.execute(text("SELECT pg_notify(:channel, :end)"), {"channel": CHANNEL, "end": END})
    count = 0
    while await heard.get() != END:
        count += 1
    return count


async def running_job(cases: UseCases, run_id: UUID) -> None:
    async with cases.sessions.begin() as session:
        await enqueue_advance(session, run_id)
        await session.execute(text("UPDATE procrastinate_jobs SET status = 'doing'"))


async def end(cases: UseCases, run_id: UUID) -> None:
    async with cases.sessions.begin() as session:
        statement = text("DELETE FROM procrastinate_jobs WHERE lock = :lock AND status = 'doing'")
        await session.execute(statement, {"lock": str(run_id)})


WAITING = {
    "a job that may begin": (True, None, 1),
    "no job": (False, None, 0),
    "a job of later": (True, timedelta(hours=1), 0),
}


@pytest.mark.parametrize(("waits", "later", "times"), WAITING.values(), ids=WAITING.keys())
async def test_the_end_of_a_job_tells_of_the_next_one(
    cases: UseCases, heard: asyncio.Queue[str], waits: bool, later: timedelta | None, times: int
) -> None:
    run_id, other = await cases.rows.run(), uuid4()
    await running_job(cases, run_id)
    async with cases.sessions.begin() as session:
        await enqueue_advance(session, other)  # of another run: not this lock's concern
        if waits:
            await enqueue_advance(session, run_id, at=datetime.now(UTC) + later if later else None)
    await told(cases, heard)
    await end(cases, run_id)
    assert await told(cases, heard) == times
