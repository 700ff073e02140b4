"""Cancelling runs: once, with what waits for them."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from app.core.errors import ConflictError, NotFoundError
from app.schemas.api.sprints import SprintCreate
from app.schemas.runs import RunStatus
from tests.integration.services.support import UseCases, at_once, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data dir") as opened:
        yield opened


def request(**fields: Any) -> SprintCreate:
    return SprintCreate.model_validate({"goal": "make it work", "source": {"kind": "empty"}} | fields)


async def test_a_waiting_sprint_is_cancelled(cases: UseCases) -> None:
    run_id, escalation_id, _ = await cases.rows.waiting()
    sprint = await cases.cancels.cancel(run_id, "wrong goal", "ada")
    assert (sprint.status, sprint.status_reason) == (RunStatus.CANCELLED, "wrong goal")
    assert sprint.finished_at is not None
    assert sprint.escalation_id is None
    assert (await cases.escalations.get(escalation_id)).status == "withdrawn"
    assert await cases.rows.events(run_id) == ["run.cancelled"]
    assert await cases.rows.jobs(run_id) == 0
    assert cases.bell.rung == [run_id]


async def test_a_queued_sprint_loses_its_job_when_cancelled(cases: UseCases) -> None:
    sprint = await cases.sprints.start(request(), "ada")
    await cases.cancels.cancel(sprint.id, "", "bob")
    assert await cases.rows.jobs(sprint.id) == 0
    assert (await cases.rows.get(sprint.id)).status_reason == "cancelled by bob"


async def test_only_one_of_many_cancels(cases: UseCases) -> None:
    run_id = await cases.rows.run()
    answers = await at_once(*(cases.cancels.cancel(run_id, "", name) for name in ("ada", "bob", "eve")))
    refused = [each for each in answers if isinstance(each, ConflictError)]
    assert len(refused) == 2
    assert all("the sprint is cancelled since" in each.detail for each in refused)
    assert await cases.rows.events(run_id) == ["run.cancelled"]


async def test_a_sprint_that_does_not_exist_cannot_be_cancelled(cases: UseCases) -> None:
    with pytest.raises(NotFoundError):
        await cases.cancels.cancel(uuid4(), "", "ada")
