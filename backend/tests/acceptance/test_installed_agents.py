"""Sprints that an installed agent works on, confined, against the scripted model behind the gateway."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from app.gateway.scripted.script import Say, run_shell
from app.gateway.scripted.server import ScriptedModelServer
from tests.acceptance.projects import MENDED, make_repository
from tests.acceptance.server import Service, ok, serving, until_rest
from tests.scripted_models import model_server

CLIENT = Path(__file__).parents[1] / "model_client_agent.py"
MEND = f"cat > shares.py <<'END'\n{MENDED}END\n"
PROFILE = f"""\
[agents.tiny]
driver = "command"
argv = ["{sys.executable}", "-I", "{CLIENT}"]
readable = ["{CLIENT}", "{sys.prefix}", "{sys.base_prefix}"]
dialect = "openai-chat"
model = "scripted-model"
env = {{ BASE_URL = "{{base_url}}", TOKEN = "{{token}}", MODEL = "{{model}}" }}
"""
KEY = "the-key-of-the-provider"


def scripted_model() -> AbstractContextManager[ScriptedModelServer]:
    """Serve a model that mends the project, in a thread."""
    return model_server((run_shell(MEND), Say("Coding Complete")))


@pytest.fixture(scope="module")
def service(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    place = tmp_path_factory.mktemp("installed agents")
    profiles = place / "agents.toml"
    profiles.write_text(PROFILE)
    with scripted_model() as model:
        env = {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{model.url}/v1",
            "AGENTS_FILE": str(profiles),
        }
        with serving(module_database_url, place / "data", env=env) as running:
            yield running


def test_a_sprint_is_worked_on_by_an_installed_agent(service: Service, tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "project")
    with service.client() as client:
        asked = {
            "goal": "Make the tests pass",
            "source": {"kind": "local", "path": str(repo)},
            "agent": {"backend": "tiny"},
            "phases": ["coding"],
        }
        run = until_rest(client, ok(client.post("/sprints", json=asked))["id"])
        assert run["status"] == "completed", run
        events = ok(client.get(f"/runs/{run['id']}/events"))
        assert KEY not in str(events)
        (attempt,) = ok(client.get(f"/runs/{run['id']}/attempts"))
    assert attempt["changed_files"] == ["shares.py"]
    assert attempt["usage"]["input_tokens"] > 0


def test_the_list_says_what_is_ready(service: Service) -> None:
    with service.client() as client:
        agents = {each["name"]: each for each in ok(client.get("/agents"))["items"]}
    assert agents["tiny"]["ready"], agents["tiny"]
    assert agents["tiny"]["network"] == "gateway"
    assert agents["scripted"]["ready"]
    assert agents["gemini"]["missing"]


def test_a_sprint_with_an_unknown_agent_is_refused_and_the_known_ones_are_named(service: Service) -> None:
    with service.client() as client:
        asked = {"goal": "Work", "source": {"kind": "empty"}, "agent": {"backend": "unheard-of"}}
        response = client.post("/sprints", json=asked)
        assert response.status_code == 422
        assert response.json()["field"] == "agent.backend"
        assert "There is no agent 'unheard-of': choose one of" in response.json()["detail"]
        assert "Work" not in [each["goal"] for each in ok(client.get("/sprints"))["items"]]


def test_an_agent_that_looks_for_the_key_finds_its_token_and_no_key(
    database_url: str, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / ".env").write_text(f"OPENAI_API_KEY={KEY}\n")
    (tmp_path / "agents.toml").write_text(PROFILE)
    places = f"/proc/[0-9]*/environ /proc/[0-9]*/cmdline {data}/.env {data}/* ~/* /tmp/* /etc/*"
    looks = f"(env; cat {places}; ls -la {data}) 2>&1 | tr -cd '\\11\\12\\40-\\176' > found.txt\n{MEND}"
    with model_server((run_shell(looks), Say("Coding Complete"))) as model:
        env = {"OPENAI_BASE_URL": f"{model.url}/v1", "AGENTS_FILE": str(tmp_path / "agents.toml")}
        with serving(database_url, data, env=env) as service, service.client() as client:
            asked = {
                "goal": "Make the tests pass",
                "source": {"kind": "local", "path": str(make_repository(tmp_path / "project"))},
                "agent": {"backend": "tiny"},
                "phases": ["coding"],
            }
            run = until_rest(client, ok(client.post("/sprints", json=asked))["id"])
            assert run["status"] == "completed", run["status_reason"]
            found = client.get(f"/runs/{run['id']}/result.patch").text
    assert "+TOKEN=" in found, "it has looked"
    assert f"{data}/.env: No such file" in found
    assert KEY not in found
    assert {each.headers["authorization"] for each in model.requests} == {f"Bearer {KEY}"}
