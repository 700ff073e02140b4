"""Cursors against a real database: each possible one, trimmed events, restored dumps, a crashed Postgres."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy import text

from app.client import Cursor, Reconnect, Reset, follow
from app.db.embedded.server import acquire
from app.db.engine import plain_url
from app.db.migrate import upgrade_to_head
from tests.integration.realtime.support import (
    Service,
    progress,
    receive,
    receive_events,
    serving,
    subscribe,
    until,
)
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

QUICKLY = Reconnect(first=0.01, longest=0.02, give_up_after=60.0)


def numbers(events: list[dict[str, Any]]) -> list[int]:
    return [event["sequence"] for event in events]


async def execute(service: Service, statement: str, **values: Any) -> None:
    async with service.runs.sessions.begin() as session:
        await session.execute(text(statement), values)


async def restore(service: Service, run_id: UUID, last: int) -> None:
    """What is there after a dump was restored that was made when the run had `last` events."""
    async with service.runs.sessions.begin() as session:
        # In the order of the service's own reads, so that neither waits for the other.
        await session.execute(text("LOCK TABLE runs, events"))
        await session.execute(text("ALTER TABLE events RENAME TO events_before"))
        await session.execute(text("CREATE TABLE events (LIKE events_before INCLUDING ALL)"))
        await session.execute(
            text("INSERT INTO events SELECT * FROM events_before WHERE sequence <= :last"), {"last": last}
        )
        await session.execute(text("UPDATE runs SET last_sequence = :last"), {"last": last})
        await session.execute(text("DROP TABLE events_before"))


async def test_a_client_resumes_at_each_possible_cursor(database_url: str) -> None:
    total = 12
    async with serving(database_url) as service, service.socket() as connection:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, total)
        epoch = await service.realtime.reader.epoch()
        for after in range(total + 1):
            answer = await subscribe(connection, run_id, after=after, epoch=epoch)
            assert (answer["mode"], answer["after"], answer["head"]) == ("resumed", after, total)
            assert numbers(await receive_events(connection, total - after)) == [*range(after + 1, total + 1)]


@pytest.mark.parametrize(("after", "mode"), [(0, "reset"), (3, "reset"), (4, "resumed"), (6, "resumed")])
async def test_cursors_older_than_what_is_kept(database_url: str, after: int, mode: str) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 6)
        await execute(service, "DELETE FROM events WHERE sequence <= 4")
        answer = await subscribe(connection, run_id, after=after)
        assert (answer["mode"], answer["after"]) == (mode, max(after, 4))
        await service.runs.progress(run_id)
        assert numbers(await receive_events(connection, 7 - max(after, 4))) == [*range(max(after, 4) + 1, 8)]


async def test_holes_are_never_passed_over_in_silence(database_url: str) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 6)
        await execute(service, "DELETE FROM events WHERE sequence IN (2, 3, 5)")
        assert (await subscribe(connection, run_id))["mode"] == "resumed"
        frames = [await receive(connection) for _ in range(5)]
    told = [frame.get("sequence") or (frame["mode"], frame["after"]) for frame in frames]
    assert told == [1, ("reset", 3), 4, ("reset", 5), 6]


async def test_a_cursor_of_a_history_that_was_replaced(database_url: str) -> None:
    async with serving(database_url) as service:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 5, text="lost")
        async with service.socket() as connection:
            epoch = (await subscribe(connection, run_id))["epoch"]
        await restore(service, run_id, 3)
        await service.runs.progress(run_id, 4, text="new")
        async with service.socket() as connection:
            answer = await subscribe(connection, run_id, after=5, epoch=epoch)
            assert (answer["mode"], answer["after"], answer["head"]) == ("reset", 0, 7)
            assert answer["epoch"] != epoch
            events = await receive_events(connection, 7)
    assert [event["data"]["lines"][0]["text"] for event in events] == ["lost"] * 3 + ["new"] * 4


async def test_live_clients_begin_again_when_the_database_is_restored_under_them(database_url: str) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 5)
        await subscribe(connection, run_id)
        await receive_events(connection, 5)
        await restore(service, run_id, 3)
        answer = await receive(connection)
        assert (answer["type"], answer["mode"], answer["after"]) == ("subscribed", "reset", 0)
        await service.runs.progress(run_id)
        assert numbers(await receive_events(connection, 4)) == [1, 2, 3, 4]


async def test_live_clients_are_told_that_their_run_was_deleted(database_url: str) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        run_id = await service.runs.add()
        await service.runs.progress(run_id)
        await subscribe(connection, run_id)
        await receive_events(connection, 1)
        await service.runs.delete(run_id)
        answer = await receive(connection)
    assert (answer["type"], answer["code"]) == ("error", "not-found")


async def test_postgres_crashes_while_clients_follow(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("restarted")
    for place in (home, *home.parents[:2]):
        place.chmod(0o755)
    lease = await asyncio.to_thread(acquire, Path(home), throwaway=True)
    try:
        await upgrade_to_head(lease.url)
        async with serving(lease.url) as service:
            run_id = await service.runs.add()
            got: list[int] = []
            cursor = Cursor()

            async def listen() -> None:
                async for event in follow(
                    service.http, run_id, cursor=cursor, until_final=True, reconnect=QUICKLY
                ):
                    assert not isinstance(event, Reset)
                    got.append(event["sequence"])

            following = asyncio.create_task(listen())
            await service.runs.progress(run_id, 3)
            await until(lambda: len(got) == 3)
            await crash(lease.url)
            await done_again(lambda: service.runs.append(run_id, progress(run_id)))
            # Another connection of the pool may still be a dead one.
            await done_again(lambda: service.runs.complete(run_id))
            async with asyncio.timeout(PATIENCE):
                await following
            kept = await events_of(lease.url, run_id)
        # The crash may take the answer of a write and keep the write itself: then it was made twice.
        assert kept >= 5
        assert got == list(range(1, kept + 1))
    finally:
        lease.release()


async def events_of(url: str, run_id: UUID) -> int:
    """Count the events of a run that the database has."""
    connection = await asyncpg.connect(plain_url(url))
    try:
        return await connection.fetchval("SELECT count(*) FROM events WHERE run_id = $1", run_id)
    finally:
        await connection.close()


async def crash(url: str) -> None:
    """Kill one backend outright: the server takes all others down with it and recovers."""
    connection = await asyncpg.connect(plain_url(url))
    pid = await connection.fetchval("SELECT pg_backend_pid()")
    try:
        await connection.execute("COPY (SELECT 1) TO PROGRAM 'kill -9 " + str(pid) + "'")
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
        pass
    finally:
        connection.terminate()


async def done_again(write: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await write()
            except Exception:  # noqa: BLE001 - whatever the drivers raise while the server recovers
                await asyncio.sleep(0.05)
            else:
                return
