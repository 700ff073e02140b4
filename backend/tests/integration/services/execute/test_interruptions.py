"""Attempts that lose their worker: the next try knows of it, and where its conversation was."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from sqlalchemy import select

from app.agents.port import (
    AgentFailure,
    AgentOutcome,
    AgentResult,
    AgentTask,
    FailureKind,
    SessionPlace,
    SessionUse,
)
from app.db.models import Attempt, Candidate
from tests.integration.services.engine_support import Agents, Engine
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


class Places:
    """Agents that note where they are to keep their conversations."""

    def __init__(self) -> None:
        self.given: list[SessionPlace] = []
        self.reached = asyncio.Event()

    def note(self, task: AgentTask) -> None:
        assert task.session is not None
        self.given.append(task.session)
        self.reached.set()

    async def hangs(self, task: AgentTask) -> AgentOutcome:
        self.note(task)
        await asyncio.Event().wait()
        raise AssertionError("it hangs")

    async def fails(self, task: AgentTask) -> AgentOutcome:
        self.note(task)
        return AgentFailure(FailureKind.PROTOCOL, "it cannot be read")

    async def ends(self, task: AgentTask) -> AgentOutcome:
        self.note(task)
        return AgentResult("done")


@pytest.mark.parametrize(
    ("policy", "subject", "continues"),
    [
        pytest.param({}, "coding/1", False, id="fresh"),
        pytest.param({"retry_context": "continue"}, "coding", True, id="continue"),
    ],
)
async def test_an_attempt_that_lost_its_worker_is_taken_up_where_it_was(
    policy: dict[str, str], subject: str, continues: bool, cases: UseCases, tmp_path: Path
) -> None:
    places = Places()
    engine = Engine(cases, tmp_path, Agents([places.hangs, places.ends]))
    run_id = await engine.run(**policy)
    job = engine.begin(run_id)
    await places.reached.wait()
    job.cancel()
    await asyncio.wait([job])
    assert await engine.until_rest(run_id) == "completed"
    before, after = places.given
    assert (before.interrupted, after.interrupted) == (False, True)
    assert (before.subject, before.continues) == (after.subject, after.continues) == (subject, continues)
    assert (before.start, before.directory) == (after.start, after.directory)
    assert before.start


async def test_an_attempt_whose_agent_failed_was_not_interrupted(cases: UseCases, tmp_path: Path) -> None:
    places = Places()
    engine = Engine(cases, tmp_path, Agents([places.fails, places.ends]))
    assert await engine.until_rest(await engine.run()) == "completed"
    assert [each.interrupted for each in places.given] == [False, False]


async def runs_out(task: AgentTask) -> AgentOutcome:
    used = SessionUse(continued=True, note="it said \0 before")
    return AgentFailure(FailureKind.LIMIT, "100 requests were made", session=used)


async def test_the_row_of_a_failed_attempt_says_whether_it_went_on(cases: UseCases, tmp_path: Path) -> None:
    engine = Engine(cases, tmp_path, Agents([runs_out]))
    run_id = await engine.run(retry_context="continue")
    assert await engine.until_rest(run_id) == "completed"
    async with cases.sessions() as session:
        rows = await session.scalars(select(Candidate).join(Attempt).where(Attempt.run_id == run_id))
        (row,) = rows.all()
    assert row.continued
    assert row.session_note.startswith("it said ")
