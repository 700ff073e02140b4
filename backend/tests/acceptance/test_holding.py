"""Pause, resume, fork and cancel on the real service: the processes of agents and evaluators are gone."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.acceptance.projects import MENDED, git, make_repository, script, step, write
from tests.acceptance.server import Service, ok, serving, until_rest
from tests.llmock import KEY, OPENAI_CHAT, Conversation, ModelServer, call, say
from tests.patience import PATIENCE

GATE_SLEEPS = "86393.25"
AGENT_SLEEPS = "86394.25"
SECONDS = PATIENCE


@pytest.fixture(scope="module")
def models() -> Iterator[ModelServer]:
    with ModelServer(Conversation((call("run_tests"), say("Coding Complete")))) as running:
        yield running


@pytest.fixture(scope="module")
def service(
    module_database_url: str, models: ModelServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": models.base_url("openai")}
    with serving(module_database_url, tmp_path_factory.mktemp("holding"), env=env) as running:
        yield running


def processes(argument: str) -> set[int]:
    """The processes that have this argument."""
    found: set[int] = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                arguments = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if argument.encode() in arguments:
                found.add(int(entry.name))
    return found


def until(what: str, holds: Any) -> None:
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def start(client: httpx.Client, repo: Path, agent: dict[str, Any]) -> str:
    body = {
        "goal": "half(8) must be 4.",
        "source": {"kind": "local", "path": str(repo)},
        "agent": agent,
        "phases": ["coding"],
    }
    return ok(client.post("/sprints", json=body))["id"]


def with_endless_gate(repo: Path) -> Path:
    run = f'[[command]]\nname = "endless"\nrun = ["sleep", "{GATE_SLEEPS}"]\ntimeout = 3600\n'
    (repo / "phaserunner.toml").write_text(run)
    git(repo, "add", "phaserunner.toml")
    git(repo, "commit", "-q", "-m", "a gate without an end")
    return repo


def with_endless_test(repo: Path) -> Path:
    call = f"subprocess.run(['sleep', '{AGENT_SLEEPS}'])"
    test = f"import subprocess\n\n\ndef test_endless() -> None:\n    {call}\n"
    (repo / "tests" / "test_endless.py").write_text(test)
    git(repo, "add", "tests/test_endless.py")
    git(repo, "commit", "-q", "-m", "a test without an end")
    return repo


def test_evaluators_are_stopped_and_begin_again(service: Service, tmp_path: Path) -> None:
    repo = with_endless_gate(make_repository(tmp_path / "project"))
    agent = script(step("Mended. Coding Complete", write("shares.py", MENDED)))
    with service.client() as client:
        sprint = start(client, repo, agent)
        until("the gate runs", lambda: processes(GATE_SLEEPS))
        paused = ok(client.post(f"/runs/{sprint}/pause", json={"reason": "lunch"}))
        assert (paused["status"], paused["paused"]["reason"]) == ("active", "lunch")
        until("the gate is gone", lambda: not processes(GATE_SLEEPS))
        refused = client.post(f"/runs/{sprint}/pause")
        assert (refused.status_code, refused.json()["paused"]) == (409, True)

        ok(client.post(f"/runs/{sprint}/resume"))
        until("the gate runs again", lambda: processes(GATE_SLEEPS))
        attempt = ok(client.get(f"/runs/{sprint}"))["attempts"][0]
        assert (attempt["number"], attempt["lost_workers"], attempt["status"]) == (1, 0, "evaluating")
        ok(client.post(f"/runs/{sprint}/cancel"))
        until("the gate is gone", lambda: not processes(GATE_SLEEPS))

        events = ok(client.get(f"/runs/{sprint}/events", params={"limit": 1000}))["events"]
        names = [each["event"] for each in events]
        assert names[-1] == "run.cancelled"
        # The agent worked once: only the evaluation was repeated.
        assert names.count("attempt.produced") == 1
        assert names.count("evaluation.started") == 2
        assert [each["sequence"] for each in events] == list(range(1, len(events) + 1))


def test_an_agent_is_stopped_with_its_process_group(service: Service, tmp_path: Path) -> None:
    repo = with_endless_test(make_repository(tmp_path / "project"))
    with service.client() as client:
        sprint = start(client, repo, {"backend": "pydantic-ai", "model": OPENAI_CHAT})
        until("the agent's tests run", lambda: processes(AGENT_SLEEPS))
        ok(client.post(f"/runs/{sprint}/pause"))
        until("the agent's processes are gone", lambda: not processes(AGENT_SLEEPS))
        attempt = ok(client.get(f"/runs/{sprint}"))["attempts"][0]
        assert (attempt["number"], attempt["agent_failures"], attempt["lost_workers"]) == (1, 0, 0)
        ok(client.post(f"/runs/{sprint}/resume"))
        until("the agent's tests run again", lambda: processes(AGENT_SLEEPS))
        ok(client.post(f"/runs/{sprint}/cancel"))
        until("the agent's processes are gone", lambda: not processes(AGENT_SLEEPS))
        ended = ok(client.get(f"/runs/{sprint}"))
        assert [each["number"] for each in ended["attempts"]] == [1]


def test_a_fork_passes_with_guidance(service: Service, tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "project")
    agent = script(
        step("Done. Coding Complete", write("notes.txt", "a note\n")),
        step("Told. Coding Complete", write("shares.py", MENDED), expects=["divide by two"]),
    )
    agent["script"]["phases"].pop("discovery")
    with service.client() as client:
        body = {
            "goal": "half(8) must be 4.",
            "source": {"kind": "local", "path": str(repo)},
            "agent": agent,
            "phases": ["coding", "verification"],
            "policy": {"max_attempts": 1},
        }
        first = until_rest(client, ok(client.post("/sprints", json=body))["id"])
        assert first["status"] == "waiting"
        told = script(step("Told. Coding Complete", write("shares.py", MENDED), expects=["divide by two"]))
        fork = {"phase": "coding", "attempt": 1, "guidance": "Please divide by two.", "agent": told}
        made = ok(client.post(f"/sprints/{first['id']}/fork", json=fork))
        ended = until_rest(client, made["id"])
        assert ended["status"] == "completed", ended["status_reason"]
        assert ended["forked_from"]["run_id"] == first["id"]
        patch = client.get(f"/runs/{ended['id']}/result.patch").text
        assert "+a note" in patch
        assert "+    return amount // 2" in patch
        assert ok(client.get(f"/sprints/{first['id']}"))["status"] == "waiting"
