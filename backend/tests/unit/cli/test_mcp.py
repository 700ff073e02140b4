"""`mcp`: the tools as an agent's client sees them, over the SDK's own client."""

import io
import json
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import anyio
import httpx
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from rich.console import Console

from app.cli.api_client import ApiClient
from app.cli.commands.mcp import _ServiceOverHttp, service_of
from app.cli.exits import ExitCode
from app.cli.root import DEFAULT_OPTIONS, Root
from app.core.config import Settings
from app.core.errors import InvalidInputError
from app.mcp.server import build_server
from app.schemas.api.workspace_reports import EvaluateRequest, EvaluationReport
from tests.unit.cli.fakes import (
    URL,
    FakeService,
    attempt_view,
    escalation_view,
    invoke,
    problem,
    sprint_detail,
)
from tests.unit.cli.reports import ASKED, ERRORED, FAILED, PASSED, FakeJudging

pytestmark = pytest.mark.anyio

BACKEND = Path(__file__).parents[3]


def connect(service: FakeService, judging: FakeJudging | None = None) -> Client:
    @asynccontextmanager
    async def evaluating() -> AsyncGenerator[FakeJudging]:
        yield judging or FakeJudging([PASSED])

    @asynccontextmanager
    async def opened(token: str | None) -> AsyncGenerator[Any]:
        async with ApiClient(URL, token or "mine", "", httpx.MockTransport(service)) as api:
            yield _ServiceOverHttp(api)

    return Client(build_server("1.2", evaluating, opened))


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    done = await client.call_tool(tool, arguments)
    text = done.content[0].text if done.content else ""
    return text if done.is_error else done.structured_content


async def test_the_five_tools_describe_every_argument() -> None:
    async with connect(FakeService()) as client:
        tools = {each.name: each for each in (await client.list_tools()).tools}
    assert list(tools) == [
        *("judge_workspace", "start_run", "run_status", "list_escalations", "resolve_escalation"),
    ]
    assert all(each.description for each in tools.values())
    assert tools["judge_workspace"].input_schema["required"] == ["path"]


@pytest.mark.parametrize(
    "report", [FAILED, PASSED, ERRORED, ASKED], ids=["failed", "passed", "errored", "asks"]
)
async def test_a_verdict_says_what_to_fix_first(report: EvaluationReport) -> None:
    judging = FakeJudging([report])
    async with connect(FakeService(), judging) as client:
        found = await call(client, "judge_workspace", path="/project", base="main", goal="Tea")
    assert found["verdict"] == report.verdict
    assert (found["fix_first"] is None) == (report.verdict == "passed")
    assert judging.requests == [
        EvaluateRequest(path="/project", base="main", goal="Tea", deterministic_only=True)
    ]
    if report is FAILED:
        assert found["fix_first"] == "src/a b.py:3: `os` imported, not used: 100%"
        assert {"path": "src/tax.py", "line": 12}.items() <= found["findings"][1].items()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "path"),
        ({"path": ""}, "path"),
        ({"path": "/p", "phase": "tea"}, "phase"),
        ({"path": "/p", "base": ""}, "base"),
        ({"path": "relative"}, "path: relative is not an absolute path"),
    ],
)
async def test_bad_arguments_are_named(arguments: dict[str, str], told: str) -> None:
    judging = FakeJudging([InvalidInputError("relative is not an absolute path", field="path")])
    async with connect(FakeService(), judging) as client:
        assert told in await call(client, "judge_workspace", **arguments)


async def test_judging_reports_progress_and_stops_when_it_is_cancelled() -> None:
    ended, told = anyio.Event(), []

    class Slow(FakeJudging):
        async def judge(self, request: EvaluateRequest) -> EvaluationReport:
            try:
                await anyio.sleep_forever()
            finally:
                ended.set()

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append(message)
        scope.cancel()

    async with connect(FakeService(), Slow([])) as client:
        with anyio.CancelScope() as scope:
            await client.call_tool("judge_workspace", {"path": "/p"}, progress_callback=progress)
        await ended.wait()
    assert told == ["the evaluators run"]


async def test_a_run_is_started_and_followed() -> None:
    service = FakeService()
    bodies: list[Any] = []

    def start(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        return httpx.Response(201, json={**sprint_detail(UUID(int=1)).model_dump(mode="json"), "source": {}})

    service.routes["POST", "/sprints"] = start
    async with connect(service) as client:
        found = await call(client, "start_run", goal="Tea", repo="/home/me/p", ref="main", max_attempts=2)
    assert found["id"] == str(UUID(int=1))
    assert bodies[0] == {
        "goal": "Tea",
        "source": {"kind": "local", "path": "/home/me/p", "ref": "main"},
        "policy": {"attempts_per_phase": 2},
    }


@pytest.mark.parametrize("url", ["https://example.org/a/b", "git@example.org:a/b.git"])
async def test_a_run_is_started_from_a_url(url: str) -> None:
    service = FakeService()
    bodies: list[Any] = []

    def start(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        return httpx.Response(201, json={**sprint_detail(UUID(int=1)).model_dump(mode="json"), "source": {}})

    service.routes["POST", "/sprints"] = start
    async with connect(service) as client:
        await call(client, "start_run", goal="Tea", repo=url)
    assert bodies[0]["source"] == {"kind": "git", "url": url}


async def test_the_status_of_a_run_names_what_failed() -> None:
    service = FakeService()
    evaluation = {
        "id": uuid4(),
        "evaluator": "pytest",
        "version": "1",
        "category": "testing",
        "gate": True,
        "status": "failed",
        "passed": False,
        "score": 0.5,
        "feedback": "1 of 2 failed",
        "criteria": [],
        "suggestions": [],
        "metadata": {},
        "duration_ms": 1,
        "trace_id": None,
        "evaluated_at": "2026-11-21T12:00:00Z",
    }
    run = sprint_detail(status="waiting", attempts=[attempt_view(evaluations=[evaluation])])
    service.sprints.append(run)
    async with connect(service) as client:
        found = await call(client, "run_status", run_id=str(run.id), wait_seconds=60)
        evidence = await client.read_resource(f"phaserunner://runs/{run.id}/attempts/coding/1/evidence")
        assert "1 of 2 failed" in evidence.contents[0].text
        with pytest.raises(MCPError, match="no attempt coding/9"):
            await client.read_resource(f"phaserunner://runs/{run.id}/attempts/coding/9/evidence")
    assert (found["rests"], found["failures"]) == (True, ["pytest: 1 of 2 failed"])


@pytest.mark.parametrize(
    ("waiting", "listed", "pages"),
    [pytest.param(5, 5, 3, id="all pages"), pytest.param(30, 20, 10, id="not without end")],
)
async def test_escalations_are_listed_over_pages(waiting: int, listed: int, pages: int) -> None:
    each = [escalation_view(id=UUID(int=number)) for number in range(waiting)]
    service = FakeService(escalations=each, page_size=2)
    async with connect(service) as client:
        found = (await call(client, "list_escalations"))["result"]
    assert [one["id"] for one in found] == [str(one.id) for one in each[:listed]]
    assert len(service.requests) == pages


async def test_escalations_are_listed_and_resolved_with_the_callers_token() -> None:
    service = FakeService(escalations=[escalation_view(id=UUID(int=5))])
    service.routes["POST", f"/escalations/{UUID(int=5)}/resolve"] = lambda request: httpx.Response(
        200, json={"decision": json.loads(request.content)}
    )
    async with connect(service) as client:
        listed = await call(client, "list_escalations")
        assert listed["result"][0]["version"] == 4
        arguments = {
            "escalation_id": str(UUID(int=5)),
            "decision": "retry",
            "version": 4,
            "guidance": "Round",
        }
        done = await call(client, "resolve_escalation", **arguments, additional_attempts=2)
    assert done["decision"] == {
        "decision": "retry",
        "version": 4,
        "guidance": "Round",
        "additional_attempts": 2,
    }
    assert {each.headers["authorization"] for each in service.requests} == {"Bearer mine"}


async def test_what_the_service_refuses_is_told_to_the_agent() -> None:
    service = FakeService()
    service.routes["GET", "/escalations"] = lambda _: problem(403, "this needs the role reviewer")
    async with connect(service) as client:
        assert "this needs the role reviewer" in await call(client, "list_escalations")
        assert "there is no" in await call(client, "run_status", run_id=str(uuid4()))


@pytest.mark.parametrize(
    ("headers", "sent"),
    [
        pytest.param({"Authorization": "Bearer theirs"}, "Bearer theirs", id="the caller's token"),
        pytest.param({}, None, id="no token: never that of this process"),
        pytest.param({"Authorization": "Basic eDp5"}, None, id="another kind of credential"),
    ],
)
async def test_over_http_a_caller_has_their_own_rights(headers: dict[str, str], sent: str | None) -> None:
    service = FakeService()
    root = Root(
        settings=Settings(_env_file=None, PHASERUNNER_URL=URL, PHASERUNNER_TOKEN="of this process"),
        **{name: Console(file=io.StringIO()) for name in ("out", "err")},
        stdin=io.StringIO(),
        cwd=Path("/"),
        transport=httpx.MockTransport(service),
    )
    server = build_server("1", root.judging, service_of(root, DEFAULT_OPTIONS))
    app = server.streamable_http_app()
    transport = httpx2.ASGITransport(app=app)
    async with (
        server.session_manager.run(),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:1", headers=headers) as web,
        Client(streamable_http_client("http://127.0.0.1:1/mcp", http_client=web)) as client,
    ):
        await call(client, "list_escalations")
    assert [each.headers.get("authorization") for each in service.requests] == [sent]


def test_a_port_that_is_taken_is_told_before_anything_is_served() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = invoke(FakeService(), "mcp", "--http", str(port))
    assert outcome.code == ExitCode.INFRASTRUCTURE
    assert outcome.err == f"phaserunner: --http: port {port} on 127.0.0.1 is taken; choose another\n"


async def test_judging_over_standard_input_needs_no_service(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(BACKEND), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "app.cli.main", "mcp"], env=environment, cwd=tmp_path
    )
    async with Client(stdio_client(server)) as client:
        told = await call(client, "judge_workspace", path=str(tmp_path / "none"))
        assert f"path: {tmp_path}/none does not exist" in told
        refused = await call(client, "list_escalations")
        assert "phaserunner" in refused
