"""From committed rows to clients: each event once and in order, with bells, without, and after outages."""

import asyncio
import random
from uuid import UUID

import asyncpg
import pytest

from app.core.websocket_events import EVENT_ADAPTER, SprintEventType
from app.db.engine import plain_url
from app.realtime.hub import HubLimits
from app.realtime.subscription import DeliveryPace
from tests.integration.realtime.support import (
    PATIENT,
    Runs,
    Service,
    progress,
    receive,
    receive_events,
    serving,
    subscribe,
)

pytestmark = pytest.mark.anyio

ENVELOPE = [
    "event", "run_id", "sprint_id", "sequence", "timestamp", "phase", "attempt", "trace_id", "data",
]  # fmt: skip
SMALL = HubLimits(ring_events=8, pace=DeliveryPace(batch=5))
"""So small that replay, ring and live meet all the time."""


async def write(runs: Runs, run_id: UUID, count: int, chance: random.Random) -> None:
    while count:
        batch = min(count, chance.randint(1, 4))
        await runs.progress(run_id, batch)
        count -= batch
        await asyncio.sleep(chance.random() * 0.01)


async def watch(service: Service, run_id: UUID, total: int, chance: random.Random) -> list[int]:
    """Come at some moment, perhaps leave in between, and go on from there."""
    got: list[int] = []
    await asyncio.sleep(chance.random() * 0.15)
    while len(got) < total:
        leave_at = chance.choice([total, min(total, len(got) + chance.randint(1, 20))])
        async with service.socket() as connection:
            answer = await subscribe(connection, run_id, after=len(got))
            assert (answer["type"], answer["mode"]) == ("subscribed", "resumed")
            events = await receive_events(connection, leave_at - len(got))
        got += [event["sequence"] for event in events]
    return got


@pytest.mark.parametrize("seed", range(6))
async def test_many_writers_and_clients_at_random_moments(database_url: str, seed: int) -> None:
    chance = random.Random(seed)
    writers, each, clients = 4, 30, 8
    total = writers * each
    async with serving(database_url, limits=SMALL) as service:
        run_ids = [await service.runs.add(), await service.runs.add()]
        async with asyncio.TaskGroup() as group:
            for run_id in run_ids:
                for _ in range(writers):
                    group.create_task(write(service.runs, run_id, each, random.Random(chance.random())))
            watching = [
                group.create_task(watch(service, run_id, total, random.Random(chance.random())))
                for run_id in run_ids
                for _ in range(clients)
            ]
    for task in watching:
        assert task.result() == list(range(1, total + 1))


async def test_the_envelope_is_the_event_that_was_stored(database_url: str) -> None:
    async with serving(database_url) as service:
        run_id = await service.runs.add()
        text = 'quotes " and \\ lines\nand\r\u2028 </script> \u0007 \U0001f600 {"event":"run.cancelled"}'
        stored = progress(run_id, text)
        await service.runs.append(run_id, stored)
        async with service.socket() as connection:
            await subscribe(connection, run_id)
            [event] = await receive_events(connection, 1)
    assert list(event) == ENVELOPE
    assert EVENT_ADAPTER.validate_python(event) == stored.model_copy(update={"sequence": 1})
    assert event == {**stored.model_dump(mode="json"), "sequence": 1}


async def test_the_bell_alone_brings_events(database_url: str) -> None:
    async with serving(database_url, timings=PATIENT) as service, service.socket() as connection:
        run_id = await service.runs.add()
        await subscribe(connection, run_id)
        await until_heard(service, run_id, connection)
        await service.runs.progress(run_id, 3)
        await receive_events(connection, 3)


async def until_heard(service: Service, run_id: UUID, connection) -> None:
    """The listener may still be connecting: then its own first look brings the event."""
    await service.runs.progress(run_id)
    await receive_events(connection, 1)


async def test_a_lost_bell_costs_no_event(database_url: str) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        run_id = await service.runs.add()
        await subscribe(connection, run_id)
        await service.runs.append(run_id, progress(run_id), progress(run_id), silent=True)
        events = await receive_events(connection, 2)
    assert [event["sequence"] for event in events] == [1, 2]


async def test_rubbish_on_the_channel_is_harmless(database_url: str) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        run_id = await service.runs.add()
        await subscribe(connection, run_id)
        database = await asyncpg.connect(plain_url(database_url))
        for payload in ("", "[", '["x"]', "null", f'["{run_id}", 7]'):
            await database.execute("SELECT pg_notify('phaserunner_events', $1)", payload)
        await database.close()
        await service.runs.progress(run_id)
        await receive_events(connection, 1)


async def test_every_connection_to_the_database_is_killed_again_and_again(database_url: str) -> None:
    rounds = 5
    async with serving(database_url) as service, service.socket() as connection:
        run_id = await service.runs.add()
        await subscribe(connection, run_id)
        database = await asyncpg.connect(plain_url(database_url))
        for _ in range(rounds):
            killed = await database.fetchval(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE datname = current_database() AND application_name IN"
                " ('phaserunner-bell', 'phaserunner-events')"
            )
            assert killed > 0
            await service.runs.progress(run_id)
            await receive_events(connection, 1)
        await database.close()
        async with service.socket() as another:
            await subscribe(another, run_id)
            events = await receive_events(another, rounds)
    assert [event["sequence"] for event in events] == [1, 2, 3, 4, 5]


async def test_the_listener_hears_again_after_its_connection_was_killed(database_url: str) -> None:
    async with serving(database_url, timings=PATIENT) as service, service.socket() as connection:
        run_id = await service.runs.add()
        await subscribe(connection, run_id)
        await until_heard(service, run_id, connection)
        database = await asyncpg.connect(plain_url(database_url))
        listening = (
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
        )
        former = await database.fetchval(listening)
        await database.execute("SELECT pg_terminate_backend($1)", former)
        # The new connection's first look finds this one, heard or not; there is no poll to do it.
        await service.runs.append(run_id, progress(run_id), silent=True)
        await receive_events(connection, 1)
        assert await database.fetchval(listening) != former
        await database.close()
        await service.runs.progress(run_id)
        await receive_events(connection, 1)


async def test_the_service_may_start_before_its_database(database_url: str) -> None:
    base, _, name = plain_url(database_url).rpartition("/")
    async with serving(f"{base}/{name}_later") as service, service.socket() as connection:
        run_id = UUID(int=1)
        await connection.send(f'{{"type":"subscribe","run":"{run_id}"}}')
        admin = await asyncpg.connect(f"{base}/postgres")
        await admin.execute(f'CREATE DATABASE "{name}_later" TEMPLATE "{name}"')
        answer = await receive(connection)
        assert (answer["type"], answer["code"]) == ("error", "not-found")
    await admin.execute(f'DROP DATABASE "{name}_later" WITH (FORCE)')
    await admin.close()


async def test_filters(database_url: str) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 3)
        await subscribe(connection, run_id, filters=[SprintEventType.WORKFLOW_COMPLETED])
        await service.runs.complete(run_id)
        [event] = await receive_events(connection, 1)
    assert (event["event"], event["sequence"]) == ("workflow.completed", 4)
