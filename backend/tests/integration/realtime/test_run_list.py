"""Lists of runs hear of every change, at the latest state, also when bells are lost."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import update
from websockets.asyncio.client import ClientConnection

from app.db.models import Run
from tests.integration.realtime.support import QUICK, Service, progress, receive, serving, subscribe

pytestmark = pytest.mark.anyio


async def state_of(connection: ClientConnection, run_id: UUID, **expected: Any) -> dict[str, Any]:
    """Read until the run is told in the expected state."""
    while True:
        frame = await receive(connection)
        run = frame.get("run")
        if frame["type"] == "run" and run["run_id"] == str(run_id) and expected.items() <= run.items():
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
        assert run == {
            "run_id": str(run_id),
            "kind": "sprint",
            "name": "first",
            "status": "active",
            "status_reason": "",
            "phase": "coding",
            "attempt": None,
            "last_sequence": 0,
            "version": 1,
            "updated_at": run["updated_at"],
        }
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
