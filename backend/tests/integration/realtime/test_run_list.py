"""Lists of runs hear of every change, at the latest state, also when bells are lost."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text, update
from websockets.asyncio.client import ClientConnection

from app.db.models import Run
from app.schemas.api.runs import RunView
from tests.integration.realtime.support import QUICK, Service, progress, receive, serving, subscribe

pytestmark = pytest.mark.anyio


async def state_of(connection: ClientConnection, run_id: UUID, **expected: Any) -> dict[str, Any]:
    """Read until the run is told in the expected state."""
    while True:
        frame = await receive(connection)
        run = frame.get("run")
        if frame["type"] == "run" and run["id"] == str(run_id) and expected.items() <= run.items():
            return run


async def set_status(service: Service, run_id: UUID, status: str) -> None:
    async with service.runs.sessions.begin() as session:
        await session.execute(update(Run).where(Run.id == run_id).values(status=status))


async def test_changes_of_any_run(database_url: str) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        answer = await subscribe(connection, "runs")
        assert answer == {"type": "subscribed", "run": "runs", "head": 0, "after": 0, "mode": "reset"}
        run_id = await service.runs.add(name="first")
        run = await state_of(connection, run_id, last_sequence=0)
        assert run.keys() == RunView.model_fields.keys() - {"goal"} | {"run_id"}
        assert (run["kind"], run["name"], run["agent"]) == ("sprint", "first", "pydantic-ai")
        assert (run["phase"], run["attempt"], run["max_attempts"]) == ("coding", None, 3)
        await service.runs.progress(run_id, 3)
        await state_of(connection, run_id, last_sequence=3)
        await service.runs.complete(run_id)
        await state_of(connection, run_id, status="completed", last_sequence=4)


@pytest.mark.parametrize("status", ["waiting", "completed", "cancelled"])
async def test_changes_whose_bell_is_lost(database_url: str, status: str) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        await subscribe(connection, "runs")
        run_id = await service.runs.add(status="queued")
        await state_of(connection, run_id, status="queued")
        await service.runs.append(run_id, progress(run_id), silent=True)
        await state_of(connection, run_id, last_sequence=1)
        await set_status(service, run_id, status)
        await state_of(connection, run_id, status=status)


async def test_a_burst_is_told_by_its_last_state(database_url: str) -> None:
    async with serving(database_url, timings=QUICK) as service, service.socket() as connection:
        await subscribe(connection, "runs")
        run_id = await service.runs.add()
        async with asyncio.TaskGroup() as group:
            for _ in range(200):
                group.create_task(service.runs.progress(run_id))
        run = await state_of(connection, run_id, last_sequence=200)
        assert run["status"] == "active"


async def test_a_run_is_told_once_while_nothing_happens_to_it(database_url: str) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        over = await service.runs.add(status="completed")
        await subscribe(connection, "runs")
        run_ids = [await service.runs.add(status=status) for status in ("completed", "waiting")]
        told = [(await receive(connection))["run"]["id"] for _ in run_ids]
        polled = await service.runs.add()  # it comes after many looks at the others
        while (run := (await receive(connection))["run"])["last_sequence"] < 5:
            assert run["id"] == str(polled)
            await service.runs.append(polled, progress(polled), silent=True)
    assert set(told) == {str(each) for each in run_ids}
    assert str(over) not in told


async def test_a_run_that_is_deleted_is_gone(database_url: str) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        await subscribe(connection, "runs")
        run_id = await service.runs.add()
        await state_of(connection, run_id, status="active")
        await service.runs.delete(run_id)
        assert await receive(connection) == {"type": "gone", "run": str(run_id)}


async def test_lists_start_over_in_a_database_that_was_restored(database_url: str) -> None:
    async with serving(database_url) as service, service.socket() as connection:
        await subscribe(connection, "runs")
        run_id = await service.runs.add()
        await state_of(connection, run_id, status="active")
        async with service.runs.sessions.begin() as session:
            # As a dump does that is restored over what is there.
            await session.execute(text("ALTER TABLE events RENAME TO events_before"))
            await session.execute(text("CREATE TABLE events (LIKE events_before INCLUDING ALL)"))
        assert (await receive(connection))["mode"] == "reset"
