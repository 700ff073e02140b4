"""Runs are locked from the top down by everyone, so that no two writers wait for each other."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from app.db.models import Run
from app.realtime.store import Fence
from app.schemas.runs import ModelRole, Usage
from app.services.record.ledger import charge
from app.services.record.transactions import Recorder
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio

_BLOCKED = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


async def until_somebody_waits(cases: UseCases) -> None:
    async with cases.sessions() as session:
        while not await session.scalar(_BLOCKED):  # noqa: ASYNC110 - the database has no event for it
            await asyncio.sleep(0.01)


async def test_who_charges_a_subtask_locks_the_loop_above_it_first(cases: UseCases) -> None:
    loop = await cases.rows.run()
    subtask = await cases.rows.run(parent_run_id=loop, fence_job=1, fence_try=1)
    claim = uuid4()
    await cases.rows.attempt(subtask, claim=claim, status="started")

    async with cases.sessions.begin() as ledger, asyncio.TaskGroup() as group:
        await ledger.get_one(Run, loop, with_for_update=True)
        group.create_task(pay(cases, subtask, claim))
        await until_somebody_waits(cases)
        await ledger.get_one(Run, subtask, with_for_update={"nowait": True})
        await ledger.commit()
    assert (await cases.rows.get(loop)).used_input_tokens == 5


async def pay(cases: UseCases, run_id: UUID, claim: UUID) -> None:
    recorder = Recorder(cases.sessions, cases.bell)
    async with recorder.open_claimed(run_id, Fence(1, 1), claim) as (recording, attempt):
        await charge(recording, attempt, ModelRole.AGENT, Usage(requests=1, input_tokens=5))
