"""What a person says to an agent at work reaches the model, and the attempt is no longer compared."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.gateway.scripted.requests import ScriptedRequest
from app.gateway.scripted.script import Say, Turn, write_file
from app.gateway.scripted.server import ScriptedModelServer
from tests.acceptance.projects import MENDED, PLAN, make_repository
from tests.acceptance.server import Service, ok, serving, until_rest
from tests.acceptance.test_installed_agents import CLIENT, KEY
from tests.acceptance.test_loops_and_answers import run as run_command
from tests.scripted_models import Gate, asked, model_server, role_of

ACP_AGENT = Path(__file__).parents[1] / "model_acp_agent.py"
PROFILE = f"""\
[agents.talks]
driver = "acp"
argv = ["{sys.executable}", "-I", "{ACP_AGENT}"]
readable = ["{ACP_AGENT}", "{CLIENT}", "{sys.prefix}", "{sys.base_prefix}"]
dialect = "openai-chat"
model = "scripted-model"
env = {{ BASE_URL = "{{base_url}}", TOKEN = "{{token}}", MODEL = "{{model}}" }}
"""
MODELS = ("openai-chat:gpt-5", "openai:gpt-5", "anthropic:claude-sonnet-5-5")
SAID = "Name the currency in the README."
PHASE = re.compile(r"You are in the (\w+) phase")
TURNS: dict[str, tuple[Turn, ...]] = {
    "discovery": (write_file("implementation_plan.md", PLAN), Say("Discovery Complete")),
    "coding": (write_file("shares.py", MENDED), Say("Coding Complete")),
    "verification": (Say("VERIFICATION_SUCCESS"),),
}


@dataclass
class Held:
    """A model that does each phase's work; the first request of a phase waits at that phase's gate."""

    gates: dict[str, Gate] = field(default_factory=dict[str, Gate])

    def __call__(self, request: ScriptedRequest) -> Turn:
        text = "\n".join(each.text for each in request.lines)
        phases = PHASE.findall(text)
        if role_of(request) != "agent" or not phases:
            return Say("I do not know.")
        if request.turns == 0 and phases[-1] in self.gates:
            self.gates[phases[-1]].pass_through()
        turns = TURNS[phases[-1]]
        return turns[min(request.turns, len(turns) - 1)]


@dataclass
class Scene:
    """A service, its model, and what holds it."""

    service: Service
    server: ScriptedModelServer
    model: Held

    def hold(self, phase: str) -> Gate:
        """Forget what was asked; the next request of a phase waits."""
        self.server.requests.clear()
        self.model.gates = {phase: Gate()}
        return self.model.gates[phase]

    def told(self, phase: str) -> list[str]:
        """The texts of the agent's requests in a phase, in their order."""
        texts = [asked(each) for each in self.server.requests]
        return [each for each in texts if PHASE.findall(each)[-1:] == [phase]]


@pytest.fixture(scope="module")
def scene(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    place = tmp_path_factory.mktemp("steering")
    profiles = place / "agents.toml"
    profiles.write_text(PROFILE)
    model = Held()
    with model_server(model) as server:
        env = {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": server.url,
            "AGENTS_FILE": str(profiles),
            "EVALUATOR_MODEL": "openai-chat:gpt-5",
        }
        with serving(module_database_url, place / "data", env=env) as running:
            yield Scene(running, server, model)


def start(client: httpx.Client, place: Path, agent: dict[str, str], *phases: str) -> str:
    body = {
        "goal": "half(8) must be 4.",
        "source": {"kind": "local", "path": str(make_repository(place / "project"))},
        "agent": agent,
        "phases": phases,
    }
    return str(ok(client.post("/sprints", json=body))["id"])


@contextmanager
def held(client: httpx.Client, run_id: str, gate: Gate) -> Iterator[None]:
    """Do something while the agent's request is held."""
    try:
        while not gate.wait():
            run = ok(client.get(f"/runs/{run_id}"))
            assert run["status"] in ("queued", "active"), run["status_reason"]
        yield
    finally:
        gate.open()


def say(scene: Scene, place: Path, run_id: str, mode: str) -> None:
    """Send a message to the agent as a user would."""
    done = run_command(scene.service, place, "say", run_id, SAID, "--mode", mode)
    assert (done.returncode, done.stdout.split()[-1:]) == (0, ["queued"]), done.stdout + done.stderr


def messages(client: httpx.Client, run_id: str) -> list[tuple[str, str | None, int | None]]:
    listed = ok(client.get(f"/runs/{run_id}/messages"))["items"]
    return [(each["status"], each["phase"], each["attempt"]) for each in listed]


def statuses(client: httpx.Client, run_id: str) -> list[str]:
    """What the events say of messages, in their order."""
    events = ok(client.get(f"/runs/{run_id}/events", params={"limit": 1000}))["events"]
    return [each["data"]["status"] for each in events if each["event"] == "agent.message"]


def steered(client: httpx.Client, run_id: str) -> dict[tuple[str, int], bool]:
    attempts = ok(client.get(f"/runs/{run_id}/attempts"))
    return {(each["phase"], each["number"]): each["steered"] for each in attempts}


def coding_passes(client: httpx.Client, agent: str) -> tuple[int, int]:
    """How many coding phases of an agent's runs passed at once, and how many are compared."""
    report: dict[str, Any] = ok(client.get("/metrics", params={"agent": agent}))
    found = [each["passes"]["pass_at_1"] for each in report["phases"] if each["phase"] == "coding"]
    return (found[0]["count"], found[0]["of"]) if found else (0, 0)


@pytest.mark.parametrize("model", MODELS)
def test_a_steering_message_is_in_the_next_request_of_the_built_in_agent(
    scene: Scene, tmp_path: Path, model: str
) -> None:
    gate = scene.hold("coding")
    with scene.service.client() as client:
        run_id = start(client, tmp_path, {"backend": "pydantic-ai", "model": model}, "coding")
        with held(client, run_id, gate):
            say(scene, tmp_path, run_id, "steer")
            assert messages(client, run_id) == [("queued", None, None)]
        assert until_rest(client, run_id)["status"] == "completed"
        assert messages(client, run_id) == [("delivered", "coding", 1)]
        assert statuses(client, run_id) == ["queued", "delivered"]
        assert steered(client, run_id) == {("coding", 1): True}
    first, second = scene.told("coding")
    assert (first.count(SAID), second.count(SAID)) == (0, 1)
    shown = run_command(scene.service, tmp_path, "show", run_id)
    assert "steered by a message" in shown.stdout


def test_a_queued_message_waits_for_the_next_attempt_of_the_built_in_agent(
    scene: Scene, tmp_path: Path
) -> None:
    gate = scene.hold("coding")
    with scene.service.client() as client:
        agent = {"backend": "pydantic-ai", "model": MODELS[0]}
        run_id = start(client, tmp_path, agent, "coding", "verification")
        with held(client, run_id, gate):
            say(scene, tmp_path, run_id, "queue")
        assert until_rest(client, run_id)["status"] == "completed"
        assert messages(client, run_id) == [("delivered", "verification", 1)]
        assert steered(client, run_id) == {("coding", 1): False, ("verification", 1): True}
    assert [each.count(SAID) for each in scene.told("coding")] == [0, 0]
    assert [each.count(SAID) for each in scene.told("verification")] == [1]


def test_a_message_that_no_attempt_can_take_is_refused_with_the_reason(scene: Scene, tmp_path: Path) -> None:
    gate = scene.hold("coding")
    with scene.service.client() as client:
        run_id = start(client, tmp_path, {"backend": "pydantic-ai", "model": MODELS[0]}, "coding")
        with held(client, run_id, gate):
            say(scene, tmp_path, run_id, "queue")
        assert until_rest(client, run_id)["status"] == "completed"
        (message,) = ok(client.get(f"/runs/{run_id}/messages"))["items"]
        assert (message["status"], message["attempt"]) == ("refused", None)
        assert message["reason"] == "the run ended before an agent could be told"
        assert statuses(client, run_id) == ["queued", "refused"]
        assert steered(client, run_id) == {("coding", 1): False}
    assert not any(SAID in asked(each) for each in scene.server.requests)


@pytest.mark.parametrize("mode", ["steer", "queue"])
def test_an_acp_agent_is_told_at_the_end_of_its_work_in_the_same_conversation(
    scene: Scene, tmp_path: Path, mode: str
) -> None:
    gate = scene.hold("coding")
    with scene.service.client() as client:
        run_id = start(client, tmp_path, {"backend": "talks"}, "coding")
        with held(client, run_id, gate):
            say(scene, tmp_path, run_id, mode)
        run = until_rest(client, run_id)
        assert run["status"] == "completed", run["status_reason"]
        assert messages(client, run_id) == [("delivered", "coding", 1)]
        assert steered(client, run_id) == {("coding", 1): True}
    # It ended its work before it was told, and then had both in one conversation.
    assert [each.count(SAID) for each in scene.told("coding")] == [0, 0, 1]
    (last,) = [each.body["messages"] for each in scene.server.requests if SAID in asked(each)]
    assert last[-1] == {"role": "user", "content": SAID}
    assert last[-2]["content"] == "Coding Complete"


def test_a_steered_attempt_is_left_out_of_comparisons(scene: Scene, tmp_path: Path) -> None:
    with scene.service.client() as client:
        agent = {"backend": "pydantic-ai", "model": "openai-chat:gpt-5-mini"}
        alone = start(client, tmp_path / "alone", agent, "coding")
        assert until_rest(client, alone)["status"] == "completed"
        (run,) = [each for each in ok(client.get("/runs"))["items"] if each["id"] == alone]
        before = coding_passes(client, run["agent"])
        gate = scene.hold("coding")
        run_id = start(client, tmp_path / "told", agent, "coding")
        with held(client, run_id, gate):
            say(scene, tmp_path, run_id, "steer")
        assert until_rest(client, run_id)["status"] == "completed"
        assert coding_passes(client, run["agent"]) == before
        again = start(client, tmp_path / "again", agent, "coding")
        assert until_rest(client, again)["status"] == "completed"
        assert coding_passes(client, run["agent"]) == (before[0] + 1, before[1] + 1)
