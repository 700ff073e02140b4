"""Installed agents while their provider fails: the kind and hint that docs promise; no attempt is used up."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.agents.external.profile import DriverKind, OutputFormat
from app.agents.external.profile_file import BUILT_IN, built_in_profiles
from app.agents.nudges import NUDGE
from app.gateway.scripted.conversation import Speaker, turns_of
from app.gateway.scripted.requests import ScriptedRequest
from app.gateway.scripted.script import Say, Turn, run_shell, write_file
from app.gateway.scripted.server import Mode, ScriptedModelServer
from app.gateway.upstreams import KEY_VARIABLES
from tests.acceptance.projects import BROKEN, MENDED, make_repository
from tests.acceptance.server import Service, ok, serving, until_rest
from tests.patience import until
from tests.real_agents.conftest import agents_path, demand
from tests.scripted_models import asked, model_server

AGENTS = ("codex", "opencode", "claude", "claude-acp", "gemini", "qwen", "mini-swe-agent", "aider")
KEY = "the-key-of-the-provider"
BLOCK = f"shares.py\n```\n<<<<<<< SEARCH\n{BROKEN}=======\n{MENDED}>>>>>>> REPLACE\n```\n"
"""The same for an agent without tools. A block that replaces nothing would add to the file."""

MENDS: tuple[Turn, ...] = (
    replace(write_file("shares.py", MENDED), otherwise=BLOCK),
    Say("Coding Complete"),
)
GOAL = "half(8) must be 4."
IDLE = Say("I would divide by two.")
CIRCLES: tuple[Turn, ...] = (run_shell("wc -l shares.py"),)
RESET_SECONDS = 3_600.0
SILENCE_SECONDS = "10"
MAX_REQUESTS = "30"
WITHOUT_TOOLS = "aider"
"""It edits by what the model writes, one request at a time, so it never goes in circles."""

STOPS_ITSELF = {"gemini": "gemini failed: it stopped at its own limit"}
"""Agents that notice a circle before PhaseRunner does, and what is told of it."""

MARK = "PHASERUNNER_MARK"

pytestmark = pytest.mark.real


@dataclass
class Model:
    """A model that takes its turns after the sprint's prompt: some agents begin with words of their own."""

    turns: tuple[Turn, ...] = MENDS

    def __call__(self, request: ScriptedRequest) -> Turn:
        """Give the next turn."""
        lines = request.lines
        prompts = [at for at, each in enumerate(lines) if each.speaker is Speaker.USER and GOAL in each.text]
        done = turns_of(lines[prompts[-1] if prompts else 0 :])
        return self.turns[min(done, len(self.turns) - 1)]


@dataclass
class Scene:
    """A service with one agent, its model, and what would be left of it."""

    agent: str
    service: Service
    server: ScriptedModelServer
    model: Model
    mark: str
    temporary: Path

    @property
    def key_variable(self) -> str:
        """The setting of its provider's key."""
        return KEY_VARIABLES[built_in_profiles()[self.agent].dialect]

    @property
    def is_acp(self) -> bool:
        """Whether it speaks the Agent Client Protocol."""
        return built_in_profiles()[self.agent].driver is DriverKind.ACP

    def processes(self) -> list[str]:
        """What the agent has started and is still there."""
        wanted, found = f"{MARK}={self.mark}".encode(), list[str]()
        for each in Path("/proc").glob("[0-9]*"):
            try:
                if wanted in (each / "environ").read_bytes().split(b"\0"):
                    found.append(each.name)
            except OSError:
                continue
        return found

    def files(self) -> list[Path]:
        """What is in the service's directory of temporary files, beside its lock."""
        (owned,) = self.temporary.iterdir()
        return [each for each in owned.iterdir() if each.name != "owner.lock"]


@pytest.fixture(scope="module", params=AGENTS)
def scene(
    request: pytest.FixtureRequest, module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scene]:
    agent, mark, model = demand(str(request.param)), uuid4().hex, Model()
    place = tmp_path_factory.mktemp(f"faults-{agent}")
    profiles = place / "agents.toml"
    text = BUILT_IN.read_text(encoding="utf-8")
    profiles.write_text(text.replace("\nenv = { ", f'\nenv = {{ {MARK} = "{mark}", '))
    # Sockets have short paths.
    with tempfile.TemporaryDirectory(prefix="agents-") as temporary, model_server(model) as server:
        server.reset_seconds = RESET_SECONDS
        env = {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": server.url,
            "GEMINI_API_KEY": KEY,
            "GEMINI_BASE_URL": server.url,
            "AGENTS_FILE": str(profiles),
            "MODEL_SILENCE_SECONDS": SILENCE_SECONDS,
            "AGENT_MAX_REQUESTS": MAX_REQUESTS,
            "EVALUATOR_RUN_DETERMINISTIC_ONLY": "true",
            "TMPDIR": temporary,
            **agents_path(),
        }
        with serving(module_database_url, place / "data", env=env) as running:
            yield Scene(agent, running, server, model, mark, Path(temporary))


def start(client: httpx.Client, place: Path, agent: str) -> str:
    body = {
        "goal": GOAL,
        "source": {"kind": "local", "path": str(make_repository(place / "project"))},
        "agent": {"backend": agent},
        "phases": ["coding"],
    }
    return str(ok(client.post("/sprints", json=body))["id"])


def failures(client: httpx.Client, run_id: str) -> list[dict[str, Any]]:
    events = ok(client.get(f"/runs/{run_id}/events", params={"limit": 1000}))["events"]
    assert KEY not in str(events)
    return [each["data"] for each in events if each["event"] == "agent.failed"]


def passes_at_last(scene: Scene, client: httpx.Client, run_id: str) -> None:
    """The run passes in its first attempt, and nothing of the agent is left."""
    run = until_rest(client, run_id)
    assert run["status"] == "completed", run["status_reason"]
    (attempt,) = ok(client.get(f"/runs/{run_id}/attempts"))
    assert (attempt["number"], attempt["verdict"]) == (1, "passed")
    assert attempt["changed_files"] == ["shares.py"]
    until(lambda: not scene.processes())
    until(lambda: not scene.files())


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        pytest.param(Mode.RATE_LIMITED, "its rate limit is reached", id="429"),
        pytest.param(Mode.FAILING, "it failed: scripted: the server failed", id="500"),
        pytest.param(Mode.CUT, "the answer broke off", id="cut"),
        pytest.param(Mode.HANG, "it did not answer in time", id="hang"),
    ],
)
def test_a_provider_that_is_away_is_waited_for(scene: Scene, tmp_path: Path, mode: Mode, said: str) -> None:
    scene.server.behave(mode)
    with scene.service.client() as client:
        run_id = start(client, tmp_path, scene.agent)
        until(lambda: failures(client, run_id))
        until(lambda: not scene.processes())
        run, (attempt,) = ok(client.get(f"/runs/{run_id}")), ok(client.get(f"/runs/{run_id}/attempts"))
        assert run["status"] == "active", run["status_reason"]
        assert ("waits for the provider until" in run["status_reason"]) == (mode is Mode.RATE_LIMITED)
        assert (attempt["verdict"], attempt["agent_failures"]) == (None, 0)
        scene.server.behave(Mode.OK)
        if mode is Mode.RATE_LIMITED:
            ok(client.post(f"/runs/{run_id}/resume"))
        passes_at_last(scene, client, run_id)
        failed = failures(client, run_id)
    assert {each["kind"] for each in failed} == {"unavailable"}
    assert said in failed[0]["message"]
    assert bool(failed[0]["retry_at"]) == (mode is Mode.RATE_LIMITED)


def test_a_rejected_key_asks_a_person_who_is_told_the_setting(scene: Scene, tmp_path: Path) -> None:
    scene.server.behave(Mode.UNAUTHORIZED)
    with scene.service.client() as client:
        run = until_rest(client, start(client, tmp_path, scene.agent))
        told = f"(HTTP 401) rejected the key: check {scene.key_variable}"
        assert run["status"] == "waiting"
        assert told in run["status_reason"]
        (failed,) = failures(client, run["id"])
        assert (failed["kind"], told in failed["message"]) == ("configuration", True)
        until(lambda: not scene.processes())
        scene.server.behave(Mode.OK)
        (escalation,) = run["escalations"]
        ok(client.post(f"/escalations/{escalation['id']}/resolve", json={"decision": "retry"}))
        passes_at_last(scene, client, run["id"])


def test_a_slow_provider_is_no_failure(scene: Scene, tmp_path: Path) -> None:
    scene.server.behave(Mode.SLOW)
    with scene.service.client() as client:
        run_id = start(client, tmp_path, scene.agent)
        passes_at_last(scene, client, run_id)
        assert failures(client, run_id) == []
    scene.server.behave(Mode.OK)


def test_an_agent_in_a_circle_is_ended_and_its_next_prompt_says_so(scene: Scene, tmp_path: Path) -> None:
    if scene.agent == WITHOUT_TOOLS:
        pytest.skip("it has no tools to call again and again")
    scene.model.turns = CIRCLES
    scene.server.behave(Mode.OK)
    with scene.service.client() as client:
        run_id = start(client, tmp_path, scene.agent)
        until(lambda: failures(client, run_id))
        scene.model.turns = MENDS
        scene.server.requests.clear()
        passes_at_last(scene, client, run_id)
        failed = failures(client, run_id)
    assert {each["kind"] for each in failed} == {"limit"}
    is_plain = built_in_profiles()[scene.agent].output is OutputFormat.TEXT and not scene.is_acp
    stuck = "AGENT_MAX_REQUESTS" if is_plain else f"{scene.agent} is stuck: it called "
    why = STOPS_ITSELF.get(scene.agent, stuck)
    assert why in failed[0]["message"]
    assert any(why in asked(each) for each in scene.server.requests)


def test_an_agent_that_changed_nothing_is_asked_once_more(scene: Scene, tmp_path: Path) -> None:
    if not scene.is_acp and built_in_profiles()[scene.agent].resume is None:
        pytest.skip("it has no conversation to go on with: only its next prompt says so")
    scene.model.turns = (IDLE, *MENDS)
    scene.server.requests.clear()
    scene.server.behave(Mode.OK)
    with scene.service.client() as client:
        run_id = start(client, tmp_path, scene.agent)
        passes_at_last(scene, client, run_id)
        assert failures(client, run_id) == []
    told = [asked(each) for each in scene.server.requests]
    assert any(NUDGE in each and IDLE.text in each for each in told), "it is the same conversation"
    scene.model.turns = MENDS
