"""Retries that go on with a conversation: the feedback is its next message, and a restart takes it up."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.gateway.scripted.requests import ScriptedRequest
from app.gateway.scripted.script import Say, Turn, run_shell
from app.gateway.scripted.server import ScriptedModelServer
from tests.acceptance.projects import MENDED, WORSE, make_repository
from tests.acceptance.server import Service, ok, serving, until_rest
from tests.acceptance.test_installed_agents import CLIENT, KEY
from tests.acceptance.test_steering import ACP_AGENT
from tests.scripted_models import Gate, asked, model_server

ENV = 'BASE_URL = "{base_url}", TOKEN = "{token}", MODEL = "{model}"'
READABLE = [str(ACP_AGENT), str(CLIENT), sys.prefix, sys.base_prefix]
FEEDBACK = "This is attempt 2 of 3."
INTERRUPTED = "Your work was interrupted."
LOST = "the earlier conversation could not go on: it cannot load a conversation"


def acp_profile(name: str, loads: str) -> str:
    return f"""
[agents.{name}]
driver = "acp"
argv = ["{sys.executable}", "-I", "{ACP_AGENT}"]
readable = {READABLE!r}
dialect = "openai-chat"
model = "scripted-model"
env = {{ LOADS = "{loads}", {ENV} }}
"""


def command_profile(name: str) -> str:
    argv = [sys.executable, "-I", str(CLIENT), "--session"]
    return f"""
[agents.{name}]
driver = "command"
argv = {[*argv, "new"]!r}
resume = {[*argv, "{session}"]!r}
readable = {READABLE!r}
output = "codex-jsonl"
dialect = "openai-chat"
model = "scripted-model"
env = {{ {ENV} }}
"""


PROFILES = acp_profile("loads", "1") + acp_profile("forgets", "0") + command_profile("resumes")


@dataclass
class Learns:
    """A model that breaks the code, and corrects it when the prompt says what failed.

    Attributes:
        gate: holds the answer after the next edit, if there is one.
    """

    gate: Gate | None = field(default=None)

    def __call__(self, request: ScriptedRequest) -> Turn:
        prompts = [each.text for each in request.lines if each.speaker == "user"]
        if request.lines[-1].text in prompts:
            code = MENDED if FEEDBACK in prompts[-1] or INTERRUPTED in prompts[-1] else WORSE
            return run_shell(f"cat > shares.py <<'END'\n{code}END\n")
        if self.gate is not None:
            self.gate.pass_through()
        return Say("Coding Complete")


def environment(place: Path, model: ScriptedModelServer) -> dict[str, str]:
    profiles = place / "agents.toml"
    profiles.write_text(PROFILES)
    return {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{model.url}/v1",
        "AGENTS_FILE": str(profiles),
        "EVALUATOR_RUN_DETERMINISTIC_ONLY": "true",
    }


@pytest.fixture(scope="module")
def scene(
    module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Service, ScriptedModelServer]]:
    place = tmp_path_factory.mktemp("conversations")
    with (
        model_server(Learns()) as model,
        serving(module_database_url, place / "data", env=environment(place, model)) as running,
    ):
        yield running, model


def start(client: httpx.Client, place: Path, agent: str, context: str) -> str:
    body = {
        "goal": "half(8) must be 4.",
        "source": {"kind": "local", "path": str(make_repository(place / "project"))},
        "agent": {"backend": agent},
        "phases": ["coding"],
        "policy": {"retry_context": context},
    }
    return str(ok(client.post("/sprints", json=body))["id"])


def recorded(client: httpx.Client, run_id: str) -> list[tuple[str, bool, str]]:
    """Of each attempt its verdict, whether its agent went on, and why it did not."""
    found: list[tuple[str, bool, str]] = []
    for each in ok(client.get(f"/runs/{run_id}/attempts")):
        detail = ok(client.get(f"/runs/{run_id}/attempts/coding/{each['number']}"))
        (candidate,) = detail["candidates"]
        found.append((each["verdict"], candidate["continued"], candidate["session_note"]))
    return found


def prompts(server: ScriptedModelServer) -> list[str]:
    """What people and PhaseRunner said in the last conversation, in its order."""
    messages: list[dict[str, Any]] = server.requests[-1].body["messages"]
    return [str(each["content"]) for each in messages if each["role"] == "user"]


@pytest.mark.parametrize("agent", ["loads", "resumes"])
@pytest.mark.parametrize(("context", "goes_on"), [("continue", True), ("fresh", False)])
def test_a_retry_gives_the_feedback_to_the_same_conversation_or_to_a_new_one(
    scene: tuple[Service, ScriptedModelServer], tmp_path: Path, agent: str, context: str, goes_on: bool
) -> None:
    service, server = scene
    with service.client() as client:
        run = until_rest(client, start(client, tmp_path, agent, context))
        assert run["status"] == "completed", run["status_reason"]
        assert recorded(client, run["id"]) == [("failed", False, ""), ("passed", goes_on, "")]
    *before, last = prompts(server)
    assert FEEDBACK in last
    assert "test_half_of_eight" in last
    assert len(before) == goes_on
    assert all(FEEDBACK not in each for each in before)


def test_an_agent_that_cannot_go_on_begins_anew_and_the_attempt_says_why(
    scene: tuple[Service, ScriptedModelServer], tmp_path: Path
) -> None:
    service, server = scene
    with service.client() as client:
        run = until_rest(client, start(client, tmp_path, "forgets", "continue"))
        assert run["status"] == "completed", run["status_reason"]
        assert recorded(client, run["id"]) == [("failed", False, ""), ("passed", False, LOST)]
    (only,) = prompts(server)
    assert FEEDBACK in only


@pytest.mark.parametrize("agent", ["loads", "resumes"])
def test_after_a_restart_an_interrupted_attempt_goes_on_in_its_conversation(
    database_url: str, tmp_path: Path, agent: str
) -> None:
    model = Learns(Gate())
    gate = model.gate
    assert gate is not None
    with model_server(model) as server:
        env = environment(tmp_path, server)
        try:
            with serving(database_url, tmp_path / "data", env=env) as service:
                with service.client() as client:
                    run_id = start(client, tmp_path, agent, "fresh")
                while not gate.wait():
                    pass
                service.kill()
        finally:
            model.gate = None
            gate.open()
        with serving(database_url, tmp_path / "data", env=env) as service, service.client() as client:
            run = until_rest(client, run_id)
            assert run["status"] == "completed", run["status_reason"]
            assert recorded(client, run_id) == [("passed", True, "")]
        first, second = prompts(server)
        assert "half(8) must be 4." in first
        assert second.startswith(INTERRUPTED)
        assert INTERRUPTED not in asked(server.requests[0])
