"""A model that sends nothing is given up after MODEL_SILENCE_SECONDS, whichever agent asks it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.gateway.scripted.script import Say, write_file
from app.gateway.scripted.server import Mode, ScriptedModelServer
from tests.acceptance.projects import MENDED, make_repository
from tests.acceptance.server import Service, ok, serving, until_rest
from tests.acceptance.test_installed_agents import KEY, PROFILE
from tests.patience import until
from tests.scripted_models import model_server

SILENCE_SECONDS = "5"


@pytest.fixture(scope="module")
def scene(
    module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Service, ScriptedModelServer]]:
    place = tmp_path_factory.mktemp("silent models")
    (place / "agents.toml").write_text(PROFILE)
    with model_server((write_file("shares.py", MENDED), Say("Coding Complete"))) as model:
        env = {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{model.url}/v1",
            "AGENTS_FILE": str(place / "agents.toml"),
            "EVALUATOR_RUN_DETERMINISTIC_ONLY": "true",
            "MODEL_SILENCE_SECONDS": SILENCE_SECONDS,
        }
        with serving(module_database_url, place / "data", env=env) as running:
            yield running, model


@pytest.mark.parametrize(
    "agent",
    [
        pytest.param({"backend": "pydantic-ai", "model": "openai-chat:scripted-model"}, id="built-in"),
        pytest.param({"backend": "tiny"}, id="through the gateway"),
    ],
)
def test_a_silent_model_is_unavailable_and_waited_for(
    scene: tuple[Service, ScriptedModelServer], tmp_path: Path, agent: dict[str, str]
) -> None:
    service, model = scene
    model.behave(Mode.HANG)
    body = {
        "goal": "half(8) must be 4.",
        "source": {"kind": "local", "path": str(make_repository(tmp_path / "project"))},
        "agent": agent,
        "phases": ["coding"],
    }
    with service.client() as client:
        run_id = ok(client.post("/sprints", json=body))["id"]
        until(lambda: "which is unavailable" in (ok(client.get(f"/runs/{run_id}"))["status_reason"] or ""))
        model.behave(Mode.OK)
        run = until_rest(client, run_id)
        assert run["status"] == "completed", run["status_reason"]
        (attempt,) = ok(client.get(f"/runs/{run_id}/attempts"))
    assert (attempt["number"], attempt["verdict"], attempt["agent_failures"]) == (1, "passed", 0)
