"""A log is downloaded complete, in order, and as it was said."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from app.api.routes.log import PAGE
from app.core.events.agents import (
    AgentProgressData,
    AgentProgressEvent,
    ProgressLine,
    ToolCalledEvent,
    ToolData,
    ToolResultEvent,
)
from app.core.events.runs import WorkflowStatusData, WorkflowStatusEvent
from app.core.events.union import Event
from app.realtime.store import append_events
from tests.integration.api.support import Api, problem_of

pytestmark = pytest.mark.anyio

AT = datetime(2026, 5, 1, 12, tzinfo=UTC)


def said(run_id: UUID, *texts: str, attempt: int = 1, candidate: int = 0) -> AgentProgressEvent:
    lines = [ProgressLine(text=each, at=AT) for each in texts]
    return AgentProgressEvent(
        run_id=run_id, sprint_id=run_id, phase="coding", attempt=attempt, timestamp=AT,
        data=AgentProgressData(lines=lines, candidate=candidate),
    )  # fmt: skip


async def told(api: Api, *events: Any) -> UUID:
    run_id = await api.rows.run()
    made: list[Event] = [each(run_id) for each in events]
    async with api.cases.sessions.begin() as session:
        await append_events(session, run_id, made)
    return run_id


async def test_a_log_as_text_and_as_events(api: Api) -> None:
    def tool(kind: Any, text: str) -> Any:
        at = {"phase": "coding", "attempt": 1, "timestamp": AT}
        return lambda run: kind(run_id=run, sprint_id=run, **at, data=ToolData(tool="read", text=text))

    run_id = await told(
        api,
        lambda run: said(run, "\x1b[31mred\x1b[0m", "<script>alert(1)</script>"),
        tool(ToolCalledEvent, "a.py"),
        tool(ToolResultEvent, "x = 1"),
        lambda run: WorkflowStatusEvent(run_id=run, sprint_id=run, data=WorkflowStatusData(status="active")),
        lambda run: said(run, "again", attempt=2, candidate=3),
    )
    url = f"/api/v1/runs/{run_id}/log"
    response = await api.client.get(url)
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-disposition"].startswith("attachment")
    assert [line.split(" ", 1)[1] for line in response.text.splitlines()] == [
        "coding/1 \x1b[31mred\x1b[0m",
        "coding/1 <script>alert(1)</script>",
        "coding/1 > read a.py",
        "coding/1 < read x = 1",
        "coding/2#3 again",
    ]
    events = (await api.client.get(url, params={"format": "ndjson"})).text.splitlines()
    assert [json.loads(each)["sequence"] for each in events] == [1, 2, 3, 5]
    second = await api.client.get(url, params={"phase": "coding", "attempt": 2})
    assert second.text.endswith("coding/2#3 again\n")
    assert second.text.count("\n") == 1
    assert (await api.client.get(url, params={"phase": "discovery"})).text == ""


async def test_a_log_of_many_pages_is_complete(api: Api) -> None:
    many = 2 * PAGE + 1
    run_id = await told(api, *[lambda run, n=n: said(run, f"line {n}") for n in range(many)])
    lines = (await api.client.get(f"/api/v1/runs/{run_id}/log")).text.splitlines()
    assert [line.rsplit(" ", 1)[1] for line in lines] == [str(n) for n in range(many)]


async def test_logs_that_are_none(api: Api) -> None:
    assert (await api.client.get(f"/api/v1/runs/{await api.rows.run()}/log")).text == ""
    nobody = await api.client.get(f"/api/v1/runs/{uuid4()}/log")
    assert (nobody.status_code, problem_of(nobody)["field"]) == (404, "run_id")
    wrong = await api.client.get(f"/api/v1/runs/{uuid4()}/log?format=pdf")
    assert problem_of(wrong)["field"] == "format"
