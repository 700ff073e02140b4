"""Installed agents on the real service when something breaks: its worker, its provider, its budget."""

import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from app.gateway.scripted.server import Mode, ScriptedModelServer
from tests.acceptance.projects import make_repository
from tests.acceptance.server import ok, serving, until_rest
from tests.acceptance.test_installed_agents import CLIENT, KEY, PROFILE, scripted_model
from tests.acceptance.test_loops_and_answers import run as run_command
from tests.patience import until


def environment(place: Path, model: ScriptedModelServer, mark: str) -> dict[str, str]:
    """Settings of a service whose agent carries a mark in its command line."""
    profiles = place / "agents.toml"
    command = f'argv = ["{sys.executable}", "-I", "{CLIENT}"'
    assert command in PROFILE
    profiles.write_text(PROFILE.replace(command, f'{command}, "{mark}"'))
    return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{model.url}/v1", "AGENTS_FILE": str(profiles)}


def start(client: httpx.Client, repo: Path, **fields: object) -> str:
    asked = {
        "goal": "Make the tests pass",
        "source": {"kind": "local", "path": str(repo)},
        "agent": {"backend": "tiny"},
        "phases": ["coding"],
        **fields,
    }
    return str(ok(client.post("/sprints", json=asked))["id"])


def processes_of(mark: str) -> list[str]:
    found: list[str] = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (each / "cmdline").read_bytes():
                found.append(each.name)
        except OSError:
            continue
    return found


def test_a_worker_that_is_killed_in_the_middle_of_a_prompt_loses_nothing(
    database_url: str, tmp_path: Path
) -> None:
    repo, mark = make_repository(tmp_path / "project"), f"mark-{uuid4().hex}"
    with scripted_model() as model:
        env = environment(tmp_path, model, mark)
        model.behave(Mode.HANG)
        with serving(database_url, tmp_path / "data", env=env) as service:
            with service.client() as client:
                run_id = start(client, repo)
                until(lambda: model.requests)
                said = run_command(service, tmp_path, "say", run_id, "Keep it small.", "--mode", "queue")
                assert said.stdout.endswith(" is queued\n"), said.stdout + said.stderr
            assert processes_of(mark)
            service.kill()  # and with it the gateway
        until(lambda: not processes_of(mark))
        model.behave(Mode.OK)
        with serving(database_url, tmp_path / "data", env=env) as service, service.client() as client:
            run = until_rest(client, run_id)
            (attempt,) = ok(client.get(f"/runs/{run_id}/attempts"))
            (message,) = ok(client.get(f"/runs/{run_id}/messages"))["items"]
            begun = [each["data"] for each in _events(client, run_id) if each["event"] == "attempt.started"]
            assert [each["taken_over"] for each in begun] == [False, True]
            refused = client.post(f"/runs/{run_id}/messages", json={"text": "Too late."})
            assert (refused.status_code, refused.json()["detail"]) == (409, "the sprint is completed")
        assert run["status"] == "completed", run
        assert (attempt["number"], attempt["verdict"], attempt["lost_workers"]) == (1, "passed", 1)
        assert attempt["changed_files"] == ["shares.py"]
        assert (message["status"], message["attempt"], attempt["steered"]) == ("delivered", 1, True)
        first, *_, last = [str(each.body) for each in model.requests]
        assert ("Keep it small." in first, "Keep it small." in last) == (False, True)
        assert processes_of(mark) == []


def test_a_limit_that_resets_is_waited_for_as_a_row_and_the_run_goes_on_once(
    database_url: str, tmp_path: Path
) -> None:
    repo = make_repository(tmp_path / "project")
    with scripted_model() as model:
        model.reset_seconds = 3600.0
        model.behave(Mode.RATE_LIMITED)
        env = environment(tmp_path, model, "waits")
        with serving(database_url, tmp_path / "data", env=env) as service, service.client() as client:
            run_id = start(client, repo)
            until(lambda: "waits for" in (ok(client.get(f"/runs/{run_id}"))["status_reason"] or ""))
            asked = len(model.requests)
            (attempt,) = ok(client.get(f"/runs/{run_id}/attempts"))
            assert attempt["agent_failures"] == 0, "a limit of the provider is no failure of the agent"
            model.behave(Mode.OK)
            ok(client.post(f"/runs/{run_id}/resume"))
            run = until_rest(client, run_id)
            (attempt,) = ok(client.get(f"/runs/{run_id}/attempts"))
            failed = [each for each in _events(client, run_id) if each["event"] == "agent.failed"]
        assert run["status"] == "completed", run
        assert (attempt["number"], attempt["verdict"]) == (1, "passed")
        assert [each["data"]["kind"] for each in failed] == ["unavailable"]
        assert asked == 1, "a limit that ends in an hour is not asked again"


def test_a_budget_that_is_spent_in_the_middle_of_an_attempt_stops_it(
    database_url: str, tmp_path: Path
) -> None:
    repo = make_repository(tmp_path / "project")
    with scripted_model() as model:
        tokens = model.usage.input + model.usage.output
        env = environment(tmp_path, model, "spends")
        with serving(database_url, tmp_path / "data", env=env) as service, service.client() as client:
            run_id = start(client, repo, policy={"budget": {"tokens": tokens}})
            run = until_rest(client, run_id)
            escalations = ok(client.get("/escalations"))["items"]
        assert run["status"] == "waiting", run
        assert run["usage"]["requests"] == 1
        assert [each["reason_kind"] for each in escalations] == ["budget_exhausted"]
        assert len(model.requests) == 1, "the gateway refuses the second request"


def _events(client: httpx.Client, run_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ok(client.get(f"/runs/{run_id}/events"))["events"]
    return found
