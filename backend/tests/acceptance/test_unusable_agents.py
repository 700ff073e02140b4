"""What installed agents cannot do or do badly: each has a clear reason, and only work uses up an attempt."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.gateway.scripted.requests import ScriptedRequest
from app.gateway.scripted.script import Say, Turn, run_shell
from tests.acceptance.projects import git, make_repository
from tests.acceptance.server import Service, ok, serving, until_rest
from tests.acceptance.test_installed_agents import CLIENT, KEY, PROFILE
from tests.acceptance.test_loops_and_answers import run as run_command
from tests.scripted_models import model_server

HEAD = 'driver = "command"\ndialect = "openai-chat"\n'
PLACES = [str(CLIENT), sys.prefix, sys.base_prefix]
LAZY, CHEATING = "model-that-is-lazy", "model-that-cheats"


def profile(name: str, argv: list[str], *lines: str, model: str = "scripted-model") -> str:
    """One profile in TOML; its command line holds no quotes but these."""
    given = [f"[agents.{name}]", HEAD + f'model = "{model}"', f"argv = {argv!r}", *lines]
    if not any(each.startswith("readable") for each in lines):
        given.append(f"readable = {PLACES!r}")
    return "\n".join([*given, ""])


def asking(name: str, model: str) -> str:
    """The profile of an agent that works, with a model that does not."""
    env = 'env = { BASE_URL = "{base_url}", TOKEN = "{token}", MODEL = "{model}" }'
    return profile(name, [sys.executable, "-I", str(CLIENT)], env, model=model)


def play(request: ScriptedRequest) -> Turn:
    """Do what the model's name says."""
    if request.model == CHEATING and request.turns == 0:
        return run_shell("echo 'def test_half_of_eight(): pass' > tests/test_shares.py")
    return Say("All tests pass. Coding Complete")


def outdated(place: Path) -> str:
    """The profile of an agent from npm, installed at another version, whose output is not what it was."""
    package = place / "node_modules" / "old-agent"
    package.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": "old-agent", "version": "9.9.9"}))
    program = package / "agent"
    program.write_text("#!/bin/sh\necho 'no events any more'\n")
    program.chmod(0o755)
    lines = ('output = "codex-jsonl"', 'package = "npm:old-agent"', 'tried = "1.2.3"')
    return profile("outdated", [str(program)], *lines)


@pytest.fixture(scope="module")
def service(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    place = tmp_path_factory.mktemp("unusable agents")
    locked = place / "locked"
    locked.write_text("no program")
    locked.chmod(0o644)
    python = [sys.executable, "-I", "-c"]
    file = place / "agents.toml"
    file.write_text(
        profile("missing", ["/nowhere/agent"])
        + profile("locked", [str(locked)])
        + profile("silent", [*python, "pass"])
        + profile("boasting", [*python, "print(1)"])
        + profile("crashing", [*python, "raise SystemExit(3)"])
        + profile("strange", ["/bin/echo", "x"], "output = 'codex-jsonl'")
        + profile("subscribed", ["/bin/echo"], 'network = "machine"', 'login = "{home}/.vendor"')
        + asking("lazy", LAZY)
        + asking("cheating", CHEATING)
        + outdated(place)
        + PROFILE
    )
    with model_server(play) as model:
        env = {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{model.url}/v1",
            "AGENTS_FILE": str(file),
            "AGENT_MAX_FAILURES": "1",
            "EVALUATOR_RUN_DETERMINISTIC_ONLY": "true",
        }
        with serving(module_database_url, place / "data", env=env) as running:
            yield running


def work(
    service: Service, place: Path, agent: str, **fields: object
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Let an agent work on the project until a human is asked; give the run and its only attempt."""
    repo = make_repository(place / "project")
    asked = {
        "goal": "Make the tests pass",
        "source": {"kind": "local", "path": str(repo)},
        "agent": agent,
        "phases": ["coding"],
        **fields,
    }
    with service.client() as client:
        run = until_rest(client, ok(client.post("/sprints", json=asked))["id"])
        assert run["status"] == "waiting", run
        (attempt,) = ok(client.get(f"/runs/{run['id']}/attempts"))
    return run, attempt


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        pytest.param("missing", "there is no program /nowhere/agent", id="not-found"),
        pytest.param("locked", "is not executable: chmod +x", id="not-executable"),
        pytest.param("silent", "silent ended without a final message", id="without-a-word"),
        pytest.param("boasting", "boasting ended without asking a model", id="success-without-a-request"),
        pytest.param("crashing", "crashing ended with status 3", id="crash"),
        pytest.param("strange", "strange ended without a final message", id="another-output"),
        pytest.param("tiny anthropic:claude", "give a model as openai-chat:NAME", id="another-dialect"),
        pytest.param("subscribed", "set AGENT_LOGINS=subscribed=DIRECTORY", id="needs-a-login"),
        pytest.param(
            "outdated",
            "version 9.9.9 is installed, and its profile was tried with 1.2.3",
            id="another-version",
        ),
    ],
)
def test_an_agent_that_cannot_work_has_a_reason_and_uses_up_no_attempt(
    service: Service, tmp_path: Path, agent: str, said: str
) -> None:
    name, _, model = agent.partition(" ")
    run, attempt = work(service, tmp_path, {"backend": name, "model": model or None})
    assert said in attempt["last_error"]
    assert said in run["status_reason"]
    assert (attempt["number"], attempt["verdict"], attempt["evaluations"]) == (1, None, [])


@pytest.mark.parametrize(
    ("agent", "gate", "said"),
    [
        pytest.param("lazy", "pytest", "No file was changed", id="success-without-a-change"),
        pytest.param("cheating", "protected_files", "tests/test_shares.py", id="edits-protected-files"),
    ],
)
def test_an_agent_that_worked_uses_up_an_attempt_and_the_reason_says_what_is_wrong(
    service: Service, tmp_path: Path, agent: str, gate: str, said: str
) -> None:
    run, attempt = work(service, tmp_path, {"backend": agent}, policy={"max_attempts": 1})
    assert attempt["verdict"] == "failed"
    assert attempt["usage"]["requests"] > 0
    (decided,) = [each for each in attempt["evaluations"] if each["evaluator"] == gate]
    assert decided["status"] == "failed"
    assert said in run["status_reason"] + decided["feedback"]


@pytest.mark.parametrize(
    ("fields", "status", "field", "said"),
    [
        pytest.param(
            {"agent": {"backend": "unheard-of"}},
            422,
            "agent.backend",
            "There is no agent 'unheard-of': choose one of",
            id="unknown-profile",
        ),
        pytest.param({"goal": "g" * 1_000_000}, 422, "goal", "at most", id="goal-of-1-MB"),
        pytest.param(
            {"agent": {"backend": "tiny", "modell": "gpt-5"}}, 422, "agent.modell", "", id="unknown-field"
        ),
    ],
)
def test_what_cannot_be_asked_for_is_refused_before_a_run(
    service: Service, fields: dict[str, Any], status: int, field: str, said: str
) -> None:
    asked = {"goal": "Work", "source": {"kind": "empty"}, "agent": {"backend": "tiny"}, **fields}
    with service.client() as client:
        before = ok(client.get("/runs"))["items"]
        refused = client.post("/sprints", json=asked)
        assert ok(client.get("/runs"))["items"] == before
    assert refused.status_code == status, refused.text
    assert field in refused.text
    assert said in refused.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param('[agents.x]\ndrivver = "acp"\n', "agents.toml:2", id="unknown-key"),
        pytest.param('[agents.x]\ndriver = "ftp"\nargv = ["x"]\n', "agents.toml:2", id="unknown-driver"),
        pytest.param("[agents.x\n", "agents.toml:1", id="no-toml"),
    ],
)
def test_a_mistake_in_the_file_of_profiles_names_its_line(
    service: Service, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "agents.toml").write_text(text)
    (tmp_path / ".env").write_text(f"AGENTS_FILE={tmp_path / 'agents.toml'}\n")
    done = run_command(service, tmp_path, "agents", "check", "tiny")
    assert done.returncode != 0
    assert said in done.stdout + done.stderr


def test_a_profile_in_the_workspace_is_no_agent(service: Service, tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "project")
    (repo / "agents.toml").write_text(PROFILE.replace("agents.tiny", "agents.planted"))
    git(repo, "add", "agents.toml")
    git(repo, "commit", "-m", "Bring an agent")
    with service.client() as client:
        asked = {
            "goal": "Work",
            "source": {"kind": "local", "path": str(repo)},
            "agent": {"backend": "planted"},
        }
        refused = client.post("/sprints", json=asked)
    assert refused.status_code == 422
    assert "There is no agent 'planted': choose one of" in refused.json()["detail"]
