r"""Texts in JSON columns and events are read as they were written, also those in which `\u0000` stands."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest

from app.core.events.agents import AgentProgressData, AgentProgressEvent, ProgressLine
from app.db.models import EventRow
from app.realtime.store import append_events
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio

PIECES = ("\0", "\\", "u0000", "\\u0000", "a")
WRITTEN = ["".join(each) for each in product(PIECES, repeat=4)]
READ = [each.replace("\0", "␀") for each in WRITTEN]


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as found:
        yield found


async def test_a_column_keeps_what_was_written(cases: UseCases) -> None:
    run_id = await cases.rows.run(definition={"scripts": WRITTEN, "named": dict.fromkeys(WRITTEN, 1)})
    kept = (await cases.rows.get(run_id)).definition
    assert kept == {"scripts": READ, "named": dict.fromkeys(READ, 1)}


async def test_a_column_keeps_null_for_numbers_that_json_lacks(cases: UseCases) -> None:
    written = {"mean": float("nan"), "most": [float("inf"), 1.5], "name": "a\0b"}
    run_id = await cases.rows.run(definition=written)
    assert (await cases.rows.get(run_id)).definition == {"mean": None, "most": [None, 1.5], "name": "a␀b"}


async def test_an_event_keeps_what_was_written(cases: UseCases) -> None:
    run_id, now = await cases.rows.run(), datetime.now(UTC)
    lines = [ProgressLine(text=each, at=now) for each in WRITTEN]
    event = AgentProgressEvent(run_id=run_id, sprint_id=run_id, data=AgentProgressData(lines=lines))
    async with cases.sessions.begin() as session:
        await append_events(session, run_id, [event])
    async with cases.sessions() as session:
        row = await session.get_one(EventRow, (run_id, 1))
    assert [each["text"] for each in row.data["lines"]] == READ
