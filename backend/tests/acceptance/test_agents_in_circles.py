"""Agents that repeat themselves and change nothing are ended, and the next prompt says why."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.gateway.scripted.requests import ScriptedRequest
from app.gateway.scripted.script import CallTool, Say, Turn, call_tool, run_shell, write_file
from tests.acceptance.projects import MENDED, make_repository
from tests.acceptance.server import Service, ok, serving, until_rest
from tests.acceptance.test_conversations import PROFILES
from tests.acceptance.test_installed_agents import KEY
from tests.scripted_models import model_server

AGENTS = [
    pytest.param({"backend": "pydantic-ai", "model": "openai-chat:gpt-5"}, id="built-in"),
    pytest.param({"backend": "loads"}, id="acp"),
]
ENDED = "## The last try ended early"
SAME, IN_TURN = "Read one file.", "Read two files in turn."


def reads(path: str) -> CallTool:
    """Read a file with a shell, or with the tool of the built-in agent."""
    tool = call_tool("read_file", path=path)
    return CallTool(run_shell(f"cat {path}").uses + tool.uses)


def play(request: ScriptedRequest) -> Turn:
    """Go in the circle that the goal names, until the prompt says that this was noticed."""
    prompt = next(each.text for each in reversed(request.lines) if each.speaker == "user")
    code, test = reads("shares.py"), reads("tests/test_shares.py")
    if ENDED in prompt:
        return (write_file("shares.py", MENDED), Say("Coding Complete"))[min(request.turns, 1)]
    return code if SAME in prompt or request.turns % 2 else test


@pytest.fixture(scope="module")
def service(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    place = tmp_path_factory.mktemp("circles")
    (place / "agents.toml").write_text(PROFILES)
    with model_server(play) as model:
        env = {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{model.url}/v1",
            "AGENTS_FILE": str(place / "agents.toml"),
            "AGENT_STUCK_CALLS": "3",
            "EVALUATOR_RUN_DETERMINISTIC_ONLY": "true",
        }
        with serving(module_database_url, place / "data", env=env) as running:
            yield running


def start(client: httpx.Client, place: Path, agent: dict[str, str], goal: str) -> str:
    source = {"kind": "local", "path": str(make_repository(place / "project"))}
    body = {"goal": goal, "source": source, "agent": agent, "phases": ["coding"]}
    return str(ok(client.post("/sprints", json=body))["id"])


def failures(client: httpx.Client, run_id: str) -> list[dict[str, Any]]:
    events = ok(client.get(f"/runs/{run_id}/events", params={"limit": 1000}))["events"]
    return [each["data"] for each in events if each["event"] == "agent.failed"]


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    ("goal", "how"),
    [
        pytest.param(SAME, "3 times in a row with the same result", id="the same call"),
        pytest.param(IN_TURN, "in turn 3 times with the same results", id="two in turn"),
    ],
)
def test_an_agent_in_a_circle_is_ended_and_its_next_prompt_says_how(
    service: Service, tmp_path: Path, agent: dict[str, str], goal: str, how: str
) -> None:
    with service.client() as client:
        run = until_rest(client, start(client, tmp_path, agent, goal))
        assert run["status"] == "completed", run["status_reason"]
        attempt = ok(client.get(f"/runs/{run['id']}/attempts/coding/1"))
        (failed,) = failures(client, run["id"])
    assert failed["kind"] == "limit"
    assert f"{agent['backend']} is stuck: it called " in failed["message"]
    assert failed["message"].endswith(how)
    assert attempt["verdict"] == "passed"
    assert f"{ENDED}\n\n{failed['message']}\nNo file was changed." in attempt["prompt"]
