"""Installed agents that cannot work: each has a clear reason, and none uses up an attempt."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.projects import git, make_repository
from tests.acceptance.server import Service, ok, serving, until_rest
from tests.acceptance.test_installed_agents import KEY, PROFILE, scripted_model

HEAD = 'driver = "command"\ndialect = "openai-chat"\nmodel = "scripted-model"\n'
READABLE = f'readable = ["{sys.prefix}", "{sys.base_prefix}"]\n'


def profile(name: str, argv: list[str], *lines: str) -> str:
    """One profile in TOML; its command line holds no quotes but these."""
    return "\n".join([f"[agents.{name}]", HEAD + READABLE + f"argv = {argv!r}", *lines, ""])


@pytest.fixture(scope="module")
def service(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    place = tmp_path_factory.mktemp("unusable agents")
    locked = place / "locked"
    locked.write_text("no program")
    locked.chmod(0o644)
    python = [sys.executable, "-I", "-c"]
    machine = 'network = "machine"\nlogin = "{home}/.vendor"'
    file = place / "agents.toml"
    file.write_text(
        profile("missing", ["/nowhere/agent"])
        + profile("locked", [str(locked)])
        + profile("silent", [*python, "pass"])
        + profile("boasting", [*python, "print(1)"])
        + profile("crashing", [*python, "raise SystemExit(3)"])
        + profile("strange", ["/bin/echo", "x"], "output = 'codex-jsonl'")
        + profile("subscribed", ["/bin/echo"], machine)
        + PROFILE
    )
    with scripted_model() as model:
        env = {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{model.url}/v1",
            "AGENTS_FILE": str(file),
            "AGENT_MAX_FAILURES": "1",
        }
        with serving(module_database_url, place / "data", env=env) as running:
            yield running


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        pytest.param("missing", "there is no program /nowhere/agent", id="not-found"),
        pytest.param("locked", "is not executable", id="not-executable"),
        pytest.param("silent", "silent ended without a final message", id="without-a-word"),
        pytest.param("boasting", "boasting ended without asking a model", id="success-without-a-request"),
        pytest.param("crashing", "crashing ended with status 3", id="crash"),
        pytest.param("strange", "strange ended without a final message", id="another-output"),
        pytest.param("subscribed", "set AGENT_LOGINS=subscribed=DIRECTORY", id="needs-a-login"),
    ],
)
def test_an_agent_that_cannot_work_has_a_reason_and_uses_up_no_attempt(
    service: Service, tmp_path: Path, agent: str, said: str
) -> None:
    repo = make_repository(tmp_path / "project")
    with service.client() as client:
        asked = {
            "goal": "Make the tests pass",
            "source": {"kind": "local", "path": str(repo)},
            "agent": {"backend": agent},
            "phases": ["coding"],
        }
        run = until_rest(client, ok(client.post("/sprints", json=asked))["id"])
        assert run["status"] == "waiting", run
        (attempt,) = ok(client.get(f"/runs/{run['id']}/attempts"))
    assert said in attempt["last_error"]
    assert (attempt["number"], attempt["verdict"], attempt["evaluations"]) == (1, None, [])


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
