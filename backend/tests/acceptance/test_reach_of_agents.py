"""Agents with a network reach neither the service nor its database, and a vendor's login is a label."""

import json
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from app.gateway.scripted.requests import ScriptedRequest
from app.gateway.scripted.script import Say, Turn, run_shell
from tests import reach_probe
from tests.acceptance.projects import make_repository
from tests.acceptance.server import Service, free_port, ok, serving, until_rest
from tests.acceptance.test_installed_agents import CLIENT, KEY, PROFILE
from tests.scripted_models import model_server

PROBE = Path(reach_probe.__file__)
PYTHON = [sys.executable, "-I", str(PROBE)]
LINK_LOCAL = "169.254.169.254 80"


def database_place(url: str) -> str:
    """Where the database listens: its host, or the directory of its socket, and its port."""
    parts = urlsplit(url)
    host = parts.hostname or parse_qs(parts.query)["host"][0]
    return f"{host} {parts.port or parse_qs(parts.query).get('port', ['5432'])[0]}"


def vendor_profile(places: list[str]) -> str:
    return f"""
[agents.subscribed]
driver = "command"
argv = {[*PYTHON, *places]!r}
readable = {[str(PROBE), sys.prefix, sys.base_prefix]!r}
dialect = "anthropic"
model = "subscription"
network = "machine"
login = "{{home}}/.vendor"
"""


@dataclass
class Scene:
    """A service, and what its agents look for."""

    service: Service
    places: list[str]


@pytest.fixture(scope="module")
def scene(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    place, port = tmp_path_factory.mktemp("reach"), free_port()
    (place / "login").mkdir(mode=0o700)
    places = [f"{host} {port}" for host in ("127.0.0.1", "localhost", "::1")]
    places += [LINK_LOCAL, database_place(module_database_url)]
    readable = f'readable = ["{CLIENT}"'
    profiles = PROFILE.replace(readable, f'{readable}, "{PROBE}"') + vendor_profile(places)
    (place / "agents.toml").write_text(profiles)

    def play(request: ScriptedRequest) -> Turn:
        probe = run_shell(shlex.join([*PYTHON, *places]))
        return probe if request.turns == 0 else Say(request.lines[-1].text)

    with model_server(play) as model:
        env = {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{model.url}/v1",
            "AGENTS_FILE": str(place / "agents.toml"),
            "AGENT_LOGINS": f"subscribed={place / 'login'}",
            "AGENT_NETWORK": "true",
            "EVALUATOR_RUN_DETERMINISTIC_ONLY": "true",
        }
        with serving(module_database_url, place / "data", port=port, env=env) as running:
            yield Scene(running, places)


@pytest.mark.parametrize("agent", ["tiny", "subscribed"])
def test_an_agent_with_a_network_reaches_no_part_of_the_service_and_a_login_is_a_label(
    scene: Scene, tmp_path: Path, agent: str
) -> None:
    repo = make_repository(tmp_path / "project")
    body = {
        "goal": "Look around",
        "source": {"kind": "local", "path": str(repo)},
        "agent": {"backend": agent},
        "phases": ["coding"],
        "policy": {"max_attempts": 1},
    }
    with scene.service.client() as client:
        run = until_rest(client, ok(client.post("/sprints", json=body))["id"])
        (attempt,) = ok(client.get(f"/runs/{run['id']}/attempts"))
        events = ok(client.get(f"/runs/{run['id']}/events", params={"limit": 1000}))["events"]
    (shown,) = re.findall(r"\{.*\}", attempt["output"])
    found = json.loads(shown)
    assert {name: what for name, what in found.items() if name.startswith("direct")} == {
        f"direct {each}": "refused" for each in scene.places
    }
    proxied = {name: what for name, what in found.items() if name.startswith("proxied")}
    assert len(proxied) >= len(scene.places) - 1
    assert set(proxied.values()) == {"403"}
    is_lent = agent == "subscribed"
    assert attempt["vendor_login"] == is_lent
    (produced,) = [each["data"] for each in events if each["event"] == "attempt.produced"]
    assert produced["vendor_login"] == is_lent
