"""The MCP server as its own process on a real service: a run is watched, read as resources and decided."""

import json
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp.types import TextResourceContents

from tests.acceptance.projects import NEVER_MENDS, make_repository
from tests.acceptance.server import BACKEND, Service, ok, until_rest

pytestmark = pytest.mark.anyio


def connect(url: str, place: Path) -> Client:
    environment = {
        "PYTHONPATH": str(BACKEND),
        "HOME": str(place),
        "PATH": "/usr/bin:/bin",
        "PHASERUNNER_URL": url,
    }
    arguments = ["-m", "app.cli.main", "mcp"]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environment, cwd=place)
    return Client(stdio_client(server))


async def read(client: Client, uri: str) -> Any:
    found = await client.read_resource(f"phaserunner://{uri}")
    (content,) = found.contents
    assert isinstance(content, TextResourceContents)
    return json.loads(content.text)


async def test_runs_attempts_and_their_evidence_are_resources(service: Service, tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "my project")
    body = {
        "goal": "half(8) must be 4; the tests say so.",
        "source": {"kind": "local", "path": str(repo)},
        "agent": NEVER_MENDS,
        "policy": {"attempts_per_phase": 1},
    }
    with service.client() as http:
        run = ok(http.post("/sprints", json=body))["id"]
        assert until_rest(http, run)["status"] == "waiting"
    async with connect(service.url, tmp_path) as client:
        listed = await read(client, "lists/runs/waiting")
        assert run in [each["id"] for each in listed["items"]]
        assert run in [each["id"] for each in (await read(client, "lists/runs/any"))["items"]]
        assert run not in [each["id"] for each in (await read(client, "lists/runs/completed"))["items"]]
        assert (await read(client, f"runs/{run}"))["status"] == "waiting"
        evidence = await read(client, f"runs/{run}/attempts/coding/1/evidence")
        assert "failed" in [each["status"] for each in evidence if each["gate"]]
        diff = await read(client, f"runs/{run}/attempts/coding/1/diff")
        assert "shares.py" in json.dumps(diff)
        for missing, told in (
            (f"runs/{uuid4()}", "there is no"),
            (f"runs/{run}/attempts/coding/9/diff", "coding"),
            (f"runs/{run}/attempts/coding/one/diff", "number"),
            ("lists/runs/asleep", "status"),
            ("runs/none", "run_id: 'none' is not the id of a run"),
        ):
            with pytest.raises(MCPError, match=told):
                await read(client, missing)

        status = await client.call_tool("run_status", {"run_id": run})
        assert status.structured_content is not None
        assert status.structured_content["rests"] is True
        (asked,) = [
            each
            for each in (await client.call_tool("list_escalations", {})).structured_content["result"]
            if each["run_id"] == run
        ]
        decided = {"escalation_id": asked["id"], "decision": "reject", "version": asked["version"]}
        done = await client.call_tool("resolve_escalation", decided)
        assert not done.is_error
        with service.client() as http:
            assert until_rest(http, run)["status"] == "failed"
        again = await client.call_tool("resolve_escalation", decided)
        assert again.is_error
