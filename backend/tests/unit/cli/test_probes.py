"""What the doctor finds."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.cli import probes
from app.cli.api_client import ApiClient
from app.core.config import Settings
from app.gateway.scripted.server import SCRIPTED_MODEL, ScriptedModelServer

pytestmark = pytest.mark.anyio


async def test_keys_are_named_and_never_shown() -> None:
    found = await probes.models(Settings(_env_file=None, ANTHROPIC_API_KEY="sk-very-secret"))
    assert found.level == "ok"
    assert "ANTHROPIC_API_KEY" in found.detail
    assert "very-secret" not in str(found.document())


async def test_without_keys_it_says_what_to_set() -> None:
    none = Settings(_env_file=None, ANTHROPIC_API_KEY=None, OPENAI_API_KEY=None, OPENAI_BASE_URL=None)
    found = await probes.models(none)
    assert (found.level, "OPENAI_API_KEY" in found.advice) == ("warn", True)


@pytest.mark.parametrize(
    ("model", "level", "told"),
    [
        pytest.param(f"openai-chat:{SCRIPTED_MODEL}", "ok", "answers, 1 models", id="all is well"),
        pytest.param("openai-chat:another", "warn", "has no model another", id="another model"),
        pytest.param("anthropic:claude-haiku-4-5", "ok", "answers, 1 models", id="no model of its"),
    ],
)
async def test_a_compatible_server_is_asked_for_its_models(model: str, level: str, told: str) -> None:
    async with ScriptedModelServer() as server:
        settings = Settings(
            _env_file=None,
            OPENAI_API_KEY="sk-very-secret",
            OPENAI_BASE_URL=f"{server.url}/v1",
            AGENT_MODEL=model,
        )
        found = await probes.models(settings)
        (asked,) = server.requests
    assert (found.level, told in found.detail) == (level, True), found
    assert asked.path == "/v1/models"
    assert asked.headers["authorization"] == "Bearer sk-very-secret"
    assert "very-secret" not in str(found.document())


async def test_a_compatible_server_that_is_away_is_told_with_what_to_do() -> None:
    settings = Settings(_env_file=None, OPENAI_API_KEY=None, OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    found = await probes.models(settings)
    assert found.level == "warn"
    assert "ends with /v1" in found.advice


@pytest.mark.parametrize(
    ("fallback", "level"),
    [
        pytest.param("openai:gpt-5", "warn", id="a provider without a key"),
        pytest.param("anthropic:claude-haiku-4-5", "ok", id="one with a key"),
        pytest.param("", "ok", id="none"),
    ],
)
async def test_a_fallback_that_cannot_be_asked_is_warned_of(fallback: str, level: str) -> None:
    settings = Settings(
        _env_file=None,
        ANTHROPIC_API_KEY="sk-very-secret",
        OPENAI_API_KEY=None,
        OPENAI_BASE_URL=None,
        EVALUATOR_FALLBACK_MODEL=fallback or None,
    )
    found = await probes.models(settings)
    assert (found.level, "EVALUATOR_FALLBACK_MODEL" in found.detail) == (level, level == "warn")


@pytest.mark.parametrize(
    "url",
    [
        "mysql://me:s3cret@127.0.0.1/x",
        "postgresql://me:s3cret@127.0.0.1:1/x",
        "postgresql://me:s3cret@127.0.0.1:notaport/x",
    ],
)
async def test_a_database_that_cannot_be_used_fails_without_its_password(url: str) -> None:
    found = await probes.external_database(url)
    assert found.level == "fail"
    assert "DATABASE_URL" in found.detail
    assert "s3cret" not in str(found.document())


async def test_a_directory_that_does_not_exist_yet_is_fine(tmp_path: Path) -> None:
    found = await probes.data_directory(tmp_path / "a" / "b")
    assert found.level == "ok"
    assert not (tmp_path / "a").exists()


async def test_a_file_in_the_place_of_the_directory_fails(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    assert (await probes.data_directory(tmp_path / "data" / "x")).level == "fail"


async def test_git_and_tools_are_there() -> None:
    assert (await probes.git()).level == "ok"
    assert (await probes.tools()).level == "ok"


@pytest.mark.parametrize(
    ("ready", "info", "level", "text"),
    [
        pytest.param(200, (200, {"version": version("phaserunner")}), "ok", "ready", id="it is"),
        pytest.param(503, (503, {}), "warn", "no service is ready", id="not ready"),
        pytest.param(200, (401, {"detail": "send a valid token"}), "warn", "token", id="closed"),
        pytest.param(200, (200, {"version": "0.0.1"}), "warn", "0.0.1", id="another version"),
    ],
)
async def test_the_server(ready: int, info: tuple[int, dict[str, str]], level: str, text: str) -> None:
    transport = httpx.MockTransport(
        lambda request: (
            httpx.Response(ready) if request.url.path == "/readyz" else httpx.Response(info[0], json=info[1])
        )
    )
    async with ApiClient("http://127.0.0.1:8000", transport=transport) as api:
        found = await probes.server(api)
    assert (found.level, text in found.detail) == (level, True)


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        pytest.param({}, "http://127.0.0.1:8000", id="default"),
        pytest.param({"PORT": 9000}, "http://127.0.0.1:9000", id="another port"),
        pytest.param({"HOST": "0.0.0.0"}, "http://127.0.0.1:8000", id="every address"),
        pytest.param({"HOST": "::"}, "http://[::1]:8000", id="every address, IPv6"),
        pytest.param({"HOST": "2001:db8::1"}, "http://[2001:db8::1]:8000", id="IPv6"),
        pytest.param(
            {"PORT": 9000, "PHASERUNNER_URL": "https://pr.example"}, "https://pr.example", id="named"
        ),
    ],
)
def test_the_command_line_asks_the_service_that_the_settings_name(settings: dict[str, Any], url: str) -> None:
    assert Settings(_env_file=None, **{"PHASERUNNER_URL": None, **settings}).service_url == url


async def test_environments_show_what_makes_them_and_how_much_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "environments" / "a-key"
    kept.mkdir(parents=True)
    (kept / "content").write_bytes(b"x" * 2_000_000)
    found = await probes.environments(Settings(_env_file=None), tmp_path)
    assert found.level == "ok"
    assert found.detail.startswith("uv ")
    assert "1 kept (2 MB), downloads" in found.detail
    modules = tmp_path / "extensions" / "a-key" / "modules"
    modules.mkdir(parents=True)
    (modules / "fast.so").write_bytes(bytes(3_000_000))
    found = await probes.environments(Settings(_env_file=None), tmp_path)
    assert "1 kept (2 MB), compiled modules 3 MB, downloads" in found.detail


async def test_workspaces_without_environments_of_their_own_are_a_warning(tmp_path: Path) -> None:
    found = await probes.environments(Settings(_env_file=None, WORKSPACE_ENVIRONMENTS="off"), tmp_path)
    assert (found.level, "WORKSPACE_ENVIRONMENTS" in found.advice) == ("warn", True)
