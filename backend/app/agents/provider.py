"""Makes the agent that a user asked for, or says what is missing."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.agents.built_in.agent import PydanticAiAgent
from app.agents.models.factory import (
    DEFAULT_ANTHROPIC_MODEL,
    DEFAULT_OPENAI_MODEL,
    ModelConfigurationError,
    ProviderKeys,
    build_model,
    provider_of,
)
from app.agents.port import Agent, AgentFailure, FailureKind
from app.agents.programs import RunProgram
from app.agents.scripted.agent import ScriptedAgent
from app.schemas.agents import AgentBackend, AgentSpec

_KEY_VARIABLES = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "openai-chat": "OPENAI_API_KEY",
}


@dataclass(frozen=True, slots=True)
class AgentProvider:
    """Resolves what users ask for.

    Attributes:
        keys: the model providers' credentials.
        run_program: starts the searches and test runs of agents; it decides about the sandbox.
        python: the interpreter that the workspace's tests run with.
        default_backend: what `auto` means; `auto` here is the agent with a model.
        default_model: for those who name no model; None chooses by the keys there are.
        test_seconds: bound on one test run of an agent.
    """

    keys: ProviderKeys
    run_program: RunProgram
    python: Path
    default_backend: AgentBackend = AgentBackend.AUTO
    default_model: str | None = None
    test_seconds: float = 120.0

    def __call__(self, spec: AgentSpec) -> Agent | AgentFailure:
        """Give the agent, or a failure of kind `CONFIGURATION` that says what to set."""
        backend = spec.backend
        if backend is AgentBackend.AUTO:
            backend = self.default_backend
        if backend is AgentBackend.SCRIPTED:
            return self._scripted(spec)
        return self._with_model(spec)

    def model_for(self, spec: AgentSpec) -> str:
        """The model that a spec's agent works with."""
        if spec.model or self.default_model:
            return spec.model or self.default_model or ""
        only_openai = self.keys.has_key_for(DEFAULT_OPENAI_MODEL) and not self.keys.has_key_for(
            DEFAULT_ANTHROPIC_MODEL
        )
        return DEFAULT_OPENAI_MODEL if only_openai else DEFAULT_ANTHROPIC_MODEL

    def _scripted(self, spec: AgentSpec) -> Agent | AgentFailure:
        if spec.script is None:
            return _refuse("The scripted agent plays a script, and none was given: add agent.script", None)
        return ScriptedAgent(spec.script)

    def _with_model(self, spec: AgentSpec) -> Agent | AgentFailure:
        model = self.model_for(spec)
        variable = _KEY_VARIABLES.get(provider_of(model))
        if variable is not None and not self.keys.has_key_for(model):
            return _refuse(f"No key for {model}: set {variable}, or choose the scripted agent", model)
        try:
            # A name that cannot be used is told before the work starts, not in the middle of it.
            build_model(model, self.keys)
        except ModelConfigurationError as error:
            return _refuse(error.detail, model)
        return PydanticAiAgent(
            model,
            partial(build_model, keys=self.keys),
            self.run_program,
            self.python,
            system_prompt=spec.system_prompt,
            temperature=spec.temperature,
            test_seconds=self.test_seconds,
        )


def _refuse(message: str, model: str | None) -> AgentFailure:
    return AgentFailure(FailureKind.CONFIGURATION, message, model=model)
