"""Which agent and which model one gets, and what is said when a key is missing."""

from pathlib import Path

import pytest

from app.agents.models.factory import build_model
from app.agents.models.providers import (
    ANTHROPIC_URL,
    OPENAI_URL,
    MissingKeyError,
    ProviderKeys,
    UnknownProviderError,
)
from app.agents.port import Agent, AgentFailure, FailureKind
from app.agents.provider import BUILT_IN_BACKENDS, AgentProvider, Backend
from app.schemas.agent_script import AgentScript
from app.schemas.agents import AgentBackend, AgentSpec
from app.workspaces.process import run_process

SCRIPT = AgentScript.model_validate({"title": "t", "phases": {"coding": [{"say": "x"}]}})
BOTH = ProviderKeys(anthropic_api_key="sk-a", openai_api_key="sk-o")
ANTHROPIC = ProviderKeys(anthropic_api_key="sk-a")
OPENAI = ProviderKeys(openai_api_key="sk-o")
LOCAL = ProviderKeys(openai_base_url="http://127.0.0.1:8080/v1")
NONE = ProviderKeys()


def resolve(
    spec: AgentSpec, keys: ProviderKeys, backend: AgentBackend = AgentBackend.AUTO, model: str | None = None
) -> Agent | AgentFailure:
    return AgentProvider(keys, run_process, Path("python"), backend, model)(spec)


@pytest.mark.parametrize(
    ("spec", "keys", "default", "model"),
    [
        (AgentSpec(), BOTH, None, "anthropic:claude-sonnet-4-20250514"),
        (AgentSpec(), ANTHROPIC, None, "anthropic:claude-sonnet-4-20250514"),
        (AgentSpec(), OPENAI, None, "openai:gpt-5.6-sol"),
        (AgentSpec(), BOTH, "openai:mine", "openai:mine"),
        (AgentSpec(model="openai:other"), BOTH, "openai:mine", "openai:other"),
        (AgentSpec(model="openai-chat:qwen"), LOCAL, None, "openai-chat:qwen"),
        (AgentSpec(backend=AgentBackend.PYDANTIC_AI), ANTHROPIC, None, "anthropic:claude-sonnet-4-20250514"),
    ],
)
def test_models(spec: AgentSpec, keys: ProviderKeys, default: str | None, model: str) -> None:
    agent = resolve(spec, keys, model=default)
    assert not isinstance(agent, AgentFailure)
    assert (agent.name, agent.model, agent.provider) == ("pydantic-ai", model, model.partition(":")[0])


@pytest.mark.parametrize(
    ("spec", "keys", "backend", "told"),
    [
        (AgentSpec(), NONE, "auto", "set ANTHROPIC_API_KEY or OPENAI_API_KEY. Without a model, try:"),
        (
            AgentSpec(model="openai:x"),
            ANTHROPIC,
            "auto",
            "no key for openai:x: set OPENAI_API_KEY. Ready here: ",
        ),
        (AgentSpec(model="openai-chat:x"), ANTHROPIC, "auto", "set OPENAI_API_KEY"),
        (AgentSpec(backend=AgentBackend.PYDANTIC_AI), OPENAI, "scripted", ""),
        (AgentSpec(model="groq:x"), BOTH, "auto", "one of anthropic, openai, openai-chat"),
        (AgentSpec(), BOTH, "scripted", "add agent.script"),
    ],
)
def test_what_is_missing_is_said(spec: AgentSpec, keys: ProviderKeys, backend: str, told: str) -> None:
    refusal = resolve(spec, keys, AgentBackend(backend))
    if not told:
        assert not isinstance(refusal, AgentFailure)
        return
    assert isinstance(refusal, AgentFailure)
    assert refusal.kind is FailureKind.CONFIGURATION
    assert told in refusal.message


def test_a_script_needs_no_key() -> None:
    agent = resolve(AgentSpec(backend=AgentBackend.SCRIPTED, script=SCRIPT), NONE)
    assert not isinstance(agent, AgentFailure)
    assert agent.provider == "scripted"


@pytest.mark.parametrize("asked", [AgentBackend.PYDANTIC_AI, AgentBackend.AUTO])
def test_an_unknown_backend_is_an_error_and_never_another_agent(asked: AgentBackend) -> None:
    table = {AgentBackend.SCRIPTED: BUILT_IN_BACKENDS[AgentBackend.SCRIPTED]}
    provider = AgentProvider(BOTH, run_process, Path("python"), backends=table)
    refusal = provider(AgentSpec(backend=asked))
    assert isinstance(refusal, AgentFailure)
    assert refusal.kind is FailureKind.CONFIGURATION
    assert refusal.message == "There is no agent 'pydantic-ai': choose one of scripted"
    assert provider.default_agent() == ("pydantic-ai", False)


def test_a_backend_is_a_row_of_the_table() -> None:
    def make(provider: AgentProvider, spec: AgentSpec) -> AgentFailure:
        return AgentFailure(FailureKind.UNAVAILABLE, f"made for {spec.model} with {provider.test_seconds} s")

    row = Backend("command line", needs_key=False, is_script=False, make=make)
    table = {**BUILT_IN_BACKENDS, AgentBackend.PYDANTIC_AI: row}
    provider = AgentProvider(NONE, run_process, Path("python"), test_seconds=7.0, backends=table)
    made = provider(AgentSpec(model="openai:x"))
    assert isinstance(made, AgentFailure)
    assert made.message == "made for openai:x with 7.0 s"
    assert provider.default_agent() == ("command line", True)


def test_every_backend_but_auto_is_in_the_table() -> None:
    assert set(BUILT_IN_BACKENDS) == set(AgentBackend) - {AgentBackend.AUTO}


@pytest.mark.parametrize(
    ("keys", "backend", "label", "ready"),
    [
        (BOTH, "auto", "pydantic-ai anthropic:claude-sonnet-4-20250514", True),
        (NONE, "pydantic-ai", "pydantic-ai anthropic:claude-sonnet-4-20250514", False),
        (NONE, "scripted", "scripted", True),
    ],
)
def test_the_default_agent(keys: ProviderKeys, backend: str, label: str, ready: bool) -> None:
    provider = AgentProvider(keys, run_process, Path("python"), AgentBackend(backend))
    assert provider.default_agent() == (label, ready)


def test_keys_are_not_shown() -> None:
    agent = resolve(AgentSpec(), BOTH)
    assert "sk-" not in repr(BOTH)
    assert "sk-" not in repr(agent)


@pytest.mark.parametrize(
    ("name", "keys", "error"),
    [
        ("anthropic:x", OPENAI, MissingKeyError),
        ("openai:x", ANTHROPIC, MissingKeyError),
        ("openai-chat:x", NONE, MissingKeyError),
        ("mistral:x", BOTH, UnknownProviderError),
        ("gpt-5", BOTH, UnknownProviderError),
        ("openai:", BOTH, UnknownProviderError),
        ("", BOTH, UnknownProviderError),
    ],
)
def test_models_that_cannot_be_made(name: str, keys: ProviderKeys, error: type[Exception]) -> None:
    with pytest.raises(error):
        build_model(name, keys)


def test_the_environment_plays_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "sk-environment")
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://elsewhere.invalid")
    with pytest.raises(MissingKeyError, match="ANTHROPIC_API_KEY"):
        build_model("anthropic:x", NONE)
    with pytest.raises(MissingKeyError, match="OPENAI_API_KEY"):
        build_model("openai:x", NONE)
    assert (build_model("anthropic:x", BOTH).base_url or "").rstrip("/") == ANTHROPIC_URL
    for name in ("openai:x", "openai-chat:x"):
        assert (build_model(name, BOTH).base_url or "").rstrip("/") == OPENAI_URL


def test_a_default_model_of_no_provider_is_named_with_its_setting() -> None:
    provider = AgentProvider(BOTH, run_process, Path("python"), default_model="groq:x")
    model, missing = provider.state_of(AgentBackend.PYDANTIC_AI)
    assert model == "groq:x"
    assert missing is not None
    assert missing.startswith("AGENT_MODEL: groq:x names no known provider; write anthropic:NAME")
