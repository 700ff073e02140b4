"""Which model an installed agent is told to use, what a list says of it, and what it lacks."""

from pathlib import Path

import pytest

from app.agents.external.agent import ExternalAgent
from app.agents.external.roster import InstalledAgents, model_of
from app.agents.gateway_port import Dialect
from app.agents.models.providers import ProviderKeys
from app.agents.port import AgentFailure, FailureKind
from app.agents.provider import AgentProvider
from app.schemas.agents import AgentSpec
from app.workspaces.confine.agent_programs import AgentPrograms
from app.workspaces.process import run_process
from tests.unit.agents.external.support import FakeGateway, command_profile, unconfined


def roster(place: Path, missing_keys: dict[Dialect, str] | None = None) -> InstalledAgents:
    starter = AgentPrograms(unconfined())
    profiles = {"mine": command_profile(model="own-model", tried="1.0")}
    return InstalledAgents(profiles, [place], FakeGateway(), starter, lambda _: (), missing_keys or {})


@pytest.mark.parametrize(
    ("own", "asked", "default", "model"),
    [
        pytest.param("own", "openai:gpt-x", "openai:other", "gpt-x", id="the-run-decides"),
        pytest.param("own", None, "openai:other", "other", id="then-the-default-that-fits"),
        pytest.param("own", None, "anthropic:claude", "own", id="not-one-that-does-not"),
        pytest.param("own", None, None, "own", id="then-the-profile"),
        pytest.param("own", "openai:org/model:free", None, "org/model:free", id="colons-stay"),
    ],
)
def test_the_model(own: str, asked: str | None, default: str | None, model: str) -> None:
    assert model_of("mine", command_profile(model=own), asked, default) == model


@pytest.mark.parametrize(
    ("own", "asked", "said"),
    [
        pytest.param("own", "anthropic:claude", "give a model as openai:NAME", id="another-dialect"),
        pytest.param(None, None, "mine has no model: give one as openai:NAME", id="none"),
        pytest.param("own", 'openai:x"\nkey="y', "cannot be the name of a model", id="injection"),
    ],
)
def test_a_model_that_cannot_be_is_told(own: str | None, asked: str | None, said: str) -> None:
    refusal = model_of("mine", command_profile(model=own), asked)
    assert isinstance(refusal, AgentFailure)
    assert refusal.kind is FailureKind.CONFIGURATION
    assert said in refusal.message


def test_an_agent_that_is_ready_is_made(tmp_path: Path) -> None:
    program = tmp_path / "scripted"
    program.write_text("")
    program.chmod(0o755)
    agents = roster(tmp_path)
    (known,) = agents.describe_all()
    assert (known.name, known.ready, known.version, known.tried) == ("mine", True, None, "1.0")
    agent = agents.make("mine", AgentSpec(backend="mine"))
    assert isinstance(agent, ExternalAgent)
    assert (agent.name, agent.model, agent.provider) == ("mine", "own-model", "openai-responses")


@pytest.mark.parametrize(
    ("is_there", "named"),
    [
        pytest.param(True, "Ready here: mine (--agent NAME). Without a model, try:", id="ready"),
        pytest.param(
            False, "set ANTHROPIC_API_KEY or OPENAI_API_KEY. Without a model, try:", id="none-is-ready"
        ),
    ],
)
def test_a_run_without_a_key_is_told_which_agents_are_ready(
    is_there: bool, named: str, tmp_path: Path
) -> None:
    program = tmp_path / "scripted"
    program.write_text("")
    program.chmod(0o755 if is_there else 0o644)
    provider = AgentProvider(ProviderKeys(), run_process, Path("python"), installed=roster(tmp_path))
    refusal = provider(AgentSpec())
    assert isinstance(refusal, AgentFailure)
    assert named in refusal.message


@pytest.mark.parametrize(
    ("is_there", "missing_keys", "said"),
    [
        pytest.param(False, {}, "there is no program scripted", id="program"),
        pytest.param(True, {Dialect.OPENAI_RESPONSES: "OPENAI_API_KEY"}, "set OPENAI_API_KEY", id="key"),
    ],
)
def test_what_is_missing_is_told_in_the_list_and_to_the_run(
    tmp_path: Path, is_there: bool, missing_keys: dict[Dialect, str], said: str
) -> None:
    if is_there:
        (tmp_path / "scripted").touch(mode=0o755)
    agents = roster(tmp_path, missing_keys)
    (known,) = agents.describe_all()
    assert said in (known.missing or "")
    refusal = agents.make("mine", AgentSpec(backend="mine"))
    assert isinstance(refusal, AgentFailure)
    assert refusal.kind is FailureKind.CONFIGURATION
    assert said in refusal.message


def test_a_run_with_an_agent_that_is_not_ready_is_told_which_are(tmp_path: Path) -> None:
    keys = ProviderKeys(anthropic_api_key="k")
    provider = AgentProvider(keys, run_process, Path("python"), installed=roster(tmp_path))
    refusal = provider(AgentSpec(backend="mine"))
    assert isinstance(refusal, AgentFailure)
    assert "there is no program scripted" in refusal.message
    assert refusal.message.endswith(
        "Ready here: pydantic-ai (--agent NAME). Without a model, try: phaserunner run --example teatime"
    )


def test_a_run_with_a_model_that_cannot_be_is_offered_no_other_agent(tmp_path: Path) -> None:
    (tmp_path / "scripted").touch(mode=0o755)
    provider = AgentProvider(ProviderKeys(), run_process, Path("python"), installed=roster(tmp_path))
    refusal = provider(AgentSpec(backend="mine", model="anthropic:claude"))
    assert isinstance(refusal, AgentFailure)
    assert (
        refusal.message == "mine speaks openai-responses: give a model as openai:NAME, not anthropic:claude"
    )


def test_an_unknown_profile_has_no_description(tmp_path: Path) -> None:
    assert roster(tmp_path).describe("other") is None
