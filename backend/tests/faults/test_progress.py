"""The database goes away while progress is stored: each line is stored, once, in order."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from uuid import UUID, uuid4

import asyncpg
import pytest

from app.core.events.agents import AgentProgressData, AgentProgressEvent, ProgressLine
from app.core.events.union import Event
from app.db.engine import Sessions, create_engine, create_sessions, plain_url
from app.db.outages import through_outages
from app.realtime.store import Batch, Fence
from app.services.record.transactions import Recorder
from harness.rows import add_run
from tests.faults.proxy import road_to
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

FENCE = Fence(7, 0)
RUNS, BATCHES, PER_BATCH, KILLS = 10, 40, 3, 30

KILL = """
    SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'phaserunner'
"""
STORED = "SELECT sequence, data #>> '{lines,0,text}' AS text FROM events WHERE run_id = $1 ORDER BY sequence"
HELD = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


class Rings:
    def __init__(self) -> None:
        self.rung: set[UUID] = set()

    def ring(self, run_id: UUID) -> None:
        self.rung.add(run_id)


def line(run_id: UUID, text: str) -> Event:
    now = datetime.now(UTC)
    data = AgentProgressData(lines=[ProgressLine(text=text, at=now)])
    return AgentProgressEvent(
        run_id=run_id, sprint_id=run_id, phase="coding", attempt=1, timestamp=now, data=data
    )


@asynccontextmanager
async def opened(url: str) -> AsyncGenerator[Sessions]:
    engine = create_engine(url, pool_size=4)
    try:
        yield create_sessions(engine)
    finally:
        await engine.dispose()


@asynccontextmanager
async def watching(url: str) -> AsyncGenerator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(plain_url(url), server_settings={"application_name": "watcher"})
    try:
        yield connection
    finally:
        await connection.close()


async def until_held(watcher: "asyncpg.Connection[asyncpg.Record]", count: int) -> None:
    """Wait until so many statements wait for a lock."""
    async with asyncio.timeout(PATIENCE):
        while await watcher.fetchval(HELD) != count:  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.005)


async def until_stored(watcher: "asyncpg.Connection[asyncpg.Record]", run_id: UUID) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await watcher.fetch(STORED, run_id):  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.005)


@dataclass
class Storm:
    """Writers that never give up, and whoever kills their connections."""

    recorder: Recorder
    failures: int = 0
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def write(self, run_id: UUID) -> None:
        batch = 0
        while batch < BATCHES or not self.done.is_set():
            events = [line(run_id, f"{batch} {place}") for place in range(PER_BATCH)]
            assert await through_outages(partial(self._store, run_id, Batch(events)))
            batch += 1

    async def kill(self, watcher: "asyncpg.Connection[asyncpg.Record]") -> None:
        killed = 0
        while killed < KILLS or not self.failures:
            killed += await watcher.fetchval(KILL)
            await asyncio.sleep(0.003)
        self.done.set()

    async def _store(self, run_id: UUID, batch: Batch) -> bool:
        try:
            return await self.recorder.progress(run_id, FENCE, batch)
        except Exception:
            self.failures += 1
            raise


async def test_progress_survives_the_death_of_its_connections(database_url: str) -> None:
    async with opened(database_url) as sessions, watching(database_url) as watcher:
        storm = Storm(Recorder(sessions, Rings()))
        run_ids = [await add_run(sessions, uuid4(), FENCE) for _ in range(RUNS)]
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            for run_id in run_ids:
                group.create_task(storm.write(run_id))
            group.create_task(storm.kill(watcher))
        assert storm.failures
        for run_id in run_ids:
            rows = await watcher.fetch(STORED, run_id)
            assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1))
            expected = [f"{index // PER_BATCH} {index % PER_BATCH}" for index in range(len(rows))]
            assert [row["text"] for row in rows] == expected
            assert len(rows) >= BATCHES * PER_BATCH


@pytest.mark.parametrize(
    "is_over", [True, False], ids=["the answer was lost", "the lost request still waits"]
)
async def test_what_was_stored_without_an_answer_is_not_stored_again(
    is_over: bool, database_url: str
) -> None:
    async with (
        road_to(database_url) as (road, url),
        opened(url) as sessions,
        watching(database_url) as watcher,
    ):
        run_id = await add_run(sessions, uuid4(), FENCE)
        bell = Rings()
        recorder = Recorder(sessions, bell)
        batch = Batch([line(run_id, "first"), line(run_id, "second")])
        lock = watcher.transaction()
        await lock.start()
        await watcher.execute("SELECT FROM runs WHERE id = $1 FOR UPDATE", run_id)
        async with watching(database_url) as observer:
            storing = asyncio.create_task(recorder.progress(run_id, FENCE, batch))
            await until_held(observer, 1)
            # The server goes on with the statement; its answer will find nobody.
            await road.close()
            with pytest.raises((OSError, asyncpg.PostgresError)):
                await storing
            assert not bell.rung
            await road.open()
            if is_over:
                await lock.rollback()
                await until_stored(observer, run_id)
            again = asyncio.create_task(through_outages(partial(recorder.progress, run_id, FENCE, batch)))
            if not is_over:
                await until_held(observer, 2)
                await lock.rollback()
            assert await again
            assert bell.rung == {run_id}
            assert await recorder.progress(run_id, FENCE, Batch([line(run_id, "third")]))
        rows = await watcher.fetch(STORED, run_id)
        assert [(row["sequence"], row["text"]) for row in rows] == [
            (1, "first"),
            (2, "second"),
            (3, "third"),
        ]


@pytest.mark.parametrize("size", [1, 3])
async def test_a_request_that_comes_after_its_repetition_stores_nothing(size: int, database_url: str) -> None:
    async with opened(database_url) as sessions, watching(database_url) as watcher:
        run_id = await add_run(sessions, uuid4(), FENCE)
        recorder = Recorder(sessions, Rings())
        batch = Batch([line(run_id, str(place)) for place in range(size)])
        assert await recorder.progress(run_id, FENCE, batch)
        assert await recorder.progress(run_id, FENCE, Batch([line(run_id, "after")]))
        # What was sent first and is late: other batches may have been stored since.
        async with asyncio.TaskGroup() as group:
            late = [group.create_task(recorder.progress(run_id, FENCE, batch)) for _ in range(4)]
        assert all(each.result() for each in late)
        assert await recorder.progress(run_id, FENCE, Batch([line(run_id, "last")]))
        rows = await watcher.fetch(STORED, run_id)
        expected = [*map(str, range(size)), "after", "last"]
        assert [(row["sequence"], row["text"]) for row in rows] == list(enumerate(expected, start=1))


async def test_another_run_may_have_the_same_key(database_url: str) -> None:
    async with opened(database_url) as sessions, watching(database_url) as watcher:
        run_ids = [await add_run(sessions, uuid4(), FENCE) for _ in range(2)]
        recorder, key = Recorder(sessions, Rings()), uuid4()
        for run_id in run_ids:
            assert await recorder.progress(run_id, FENCE, Batch([line(run_id, "once")], key))
            assert len(await watcher.fetch(STORED, run_id)) == 1


async def test_nothing_to_store_is_no_request(database_url: str) -> None:
    async with opened(database_url) as sessions:
        assert await Recorder(sessions, Rings()).progress(uuid4(), FENCE, Batch([]))


@pytest.mark.parametrize("status", ["completed", "active"])
async def test_who_lost_the_run_is_told_so_and_stores_nothing(status: str, database_url: str) -> None:
    async with opened(database_url) as sessions, watching(database_url) as watcher:
        run_id = await add_run(sessions, uuid4(), FENCE)
        late = Fence(FENCE.job_id, FENCE.attempt - 1) if status == "active" else FENCE
        await watcher.execute("UPDATE runs SET status = $2 WHERE id = $1", run_id, status)
        bell = Rings()
        recorder = Recorder(sessions, bell)
        assert not await recorder.progress(run_id, late, Batch([line(run_id, "late")]))
        assert not await recorder.progress(uuid4(), FENCE, Batch([line(run_id, "of no run")]))
        assert not bell.rung
        assert not await watcher.fetch(STORED, run_id)
