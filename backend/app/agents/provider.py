"""Makes the agent that a run asks for, or says what is missing, from a table with one row per backend."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from pydantic_ai.models import Model

from app.agents.built_in.agent import PydanticAiAgent
from app.agents.external.roster import InstalledAgents
from app.agents.models.factory import build_model
from app.agents.models.providers import (
    DEFAULT_ANTHROPIC_MODEL,
    DEFAULT_OPENAI_MODEL,
    ModelConfigurationError,
    ProviderKeys,
    provider_of,
)
from app.agents.port import Agent, AgentFailure, FailureKind
from app.agents.programs import RunProgram
from app.agents.scripted.agent import ScriptedAgent
from app.schemas.agents import AgentBackend, AgentName, AgentSpec

_KEY_VARIABLES = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "openai-chat": "OPENAI_API_KEY",
}


@dataclass(frozen=True, slots=True)
class Backend:
    """One kind of agent.

    Attributes:
        label: name for users.
        needs_key: True if it works only with the key of a model provider.
        is_script: True if it replays recorded work, without a model.
        make: makes the agent of a spec, or says what is missing.
    """

    label: str
    needs_key: bool
    is_script: bool
    make: Callable[["AgentProvider", AgentSpec], Agent | AgentFailure]


def _scripted(_: "AgentProvider", spec: AgentSpec) -> Agent | AgentFailure:
    if spec.script is None:
        return _refuse("The scripted agent needs a script: add agent.script")
    return ScriptedAgent(spec.script)


def _pydantic_ai(provider: "AgentProvider", spec: AgentSpec) -> Agent | AgentFailure:
    model = provider.model_for(spec)
    if missing := provider.missing_key(spec):
        return _refuse(missing + provider.other_ways(), model)
    build = provider.build or partial(build_model, keys=provider.keys)
    try:
        # An unusable name is refused now, not in the middle of the work.
        build(model)
    except ModelConfigurationError as error:
        return _refuse(error.detail, model)
    return PydanticAiAgent(
        model,
        build,
        provider.run_program,
        provider.python,
        system_prompt=spec.system_prompt,
        temperature=spec.temperature,
        test_seconds=provider.test_seconds,
        silence_seconds=provider.silence_seconds,
        nudges=provider.nudges,
    )


BUILT_IN_BACKENDS: Mapping[AgentName, Backend] = MappingProxyType(
    {
        AgentBackend.PYDANTIC_AI: Backend("pydantic-ai", needs_key=True, is_script=False, make=_pydantic_ai),
        AgentBackend.SCRIPTED: Backend("scripted", needs_key=False, is_script=True, make=_scripted),
    }
)
"""The backends of every installation. `AgentBackend.AUTO` is no backend: it stands for the default."""


@dataclass(frozen=True, slots=True)
class AgentProvider:
    """Finds the backend that a run asks for, and makes the agent with it.

    Attributes:
        keys: the model providers' credentials.
        run_program: starts the searches and test runs of agents, in the sandbox or not.
        python: the interpreter that runs the workspace's tests.
        default_backend: the backend for `auto`; `auto` here is the agent with a model.
        default_model: for specs without a model; None chooses by the configured keys.
        test_seconds: time limit of one test run of an agent, wall clock.
        silence_seconds: how long a model may send nothing before a request counts as failed.
        nudges: how often an agent is asked once more if it changed no file.
        backends: the table.
        build: makes a model from its name; None makes it with the keys.
        installed: agents that are programs on this machine, by their profiles.
    """

    keys: ProviderKeys
    run_program: RunProgram
    python: Path
    default_backend: AgentName = AgentBackend.AUTO
    default_model: str | None = None
    test_seconds: float = 120.0
    silence_seconds: float = 300.0
    nudges: int = 1
    build: Callable[[str], Model] | None = None
    backends: Mapping[AgentName, Backend] = field(default_factory=lambda: BUILT_IN_BACKENDS)
    installed: InstalledAgents | None = None

    def __call__(self, spec: AgentSpec) -> Agent | AgentFailure:
        """Return the agent, or a failure of kind `CONFIGURATION` that says what to set."""
        name = self.resolve(spec.backend)
        backend = self.backends.get(name)
        if backend is not None:
            made, label = backend.make(self, spec), backend.label
        elif self.installed is not None and name in self.installed.profiles:
            made, label = self._make_installed(self.installed, name, spec), str(name)
        else:
            made, label = _refuse(self._unknown(name)), str(name)
        return replace(made, agent=label) if isinstance(made, AgentFailure) else made

    def _make_installed(self, installed: InstalledAgents, name: str, spec: AgentSpec) -> Agent | AgentFailure:
        made = installed.make(name, spec, self.default_model, self.nudges)
        known = installed.describe(name)
        if not isinstance(made, AgentFailure) or known is None or known.ready:
            return made
        return replace(made, message=made.message + self.other_ways())

    def missing_key(self, spec: AgentSpec) -> str | None:
        """Return which setting a spec's model lacks.

        Return None if it has its key, or if the name is refused later.
        """
        model = self.model_for(spec)
        variable = _KEY_VARIABLES.get(provider_of(model))
        if variable is None or self.keys.has_key_for(model):
            return None
        if spec.model is None and self.default_model is None:
            variable = " or ".join(dict.fromkeys(_KEY_VARIABLES.values()))
        return f"no key for {model}: set {variable}"

    def other_ways(self) -> str:
        """Say which other agents are ready, and how to try the product without any."""
        found = self.installed.describe_all() if self.installed is not None else []
        ready = [each.name for each in found if each.ready]
        if self._default_problem() is None:
            ready.insert(0, str(AgentBackend.PYDANTIC_AI))
        agents = f". Ready here: {', '.join(ready)} (--agent NAME)" if ready else ""
        return f"{agents}. Without a model, try: phaserunner run --example teatime"

    def unknown(self, spec: AgentSpec) -> str | None:
        """Say which agents exist if a spec names an unknown one, else return None."""
        name = self.resolve(spec.backend)
        return None if name in self.backends or name in self._profiles() else self._unknown(name)

    def _unknown(self, name: AgentName) -> str:
        known = ", ".join(sorted(map(str, {*self.backends, *self._profiles()})))
        return f"There is no agent {str(name)!r}: choose one of {known}"

    def _profiles(self) -> Collection[str]:
        return self.installed.profiles if self.installed is not None else ()

    def resolve(self, backend: AgentName) -> AgentName:
        """Return the backend for a spec. `auto` stands for the default."""
        if backend is AgentBackend.AUTO:
            backend = self.default_backend
        return AgentBackend.PYDANTIC_AI if backend is AgentBackend.AUTO else backend

    def default_agent(self) -> tuple[str, bool]:
        """Return the default agent's label, and whether its key is configured if it needs one."""
        name = self.resolve(AgentBackend.AUTO)
        backend = self.backends.get(name)
        if backend is None:
            installed = self.installed.describe(name) if self.installed is not None else None
            return str(name), installed is not None and installed.ready
        if not backend.needs_key:
            return backend.label, True
        model = self.model_for(AgentSpec())
        return f"{backend.label} {model}", self.keys.has_key_for(model)

    def own_agents(self) -> list[str]:
        """Return the names of PhaseRunner's own agents."""
        return [str(each) for each in self.backends]

    def state_of(self, name: str) -> tuple[str | None, str | None]:
        """Return the model of one of PhaseRunner's own agents, and what it lacks; either may be None."""
        if not self.backends[name].needs_key:
            return None, None
        return self.model_for(AgentSpec()), self._default_problem()

    def _default_problem(self) -> str | None:
        model = self.model_for(AgentSpec())
        if provider_of(model) in _KEY_VARIABLES:
            return self.missing_key(AgentSpec())
        ways = ", ".join(f"{each}:NAME" for each in _KEY_VARIABLES)
        return f"AGENT_MODEL: {model} names no known provider; write {ways}"

    def model_for(self, spec: AgentSpec) -> str:
        """Return the model that a spec's agent works with."""
        if spec.model or self.default_model:
            return spec.model or self.default_model or ""
        only_openai = self.keys.has_key_for(DEFAULT_OPENAI_MODEL) and not self.keys.has_key_for(
            DEFAULT_ANTHROPIC_MODEL
        )
        return DEFAULT_OPENAI_MODEL if only_openai else DEFAULT_ANTHROPIC_MODEL


def _refuse(message: str, model: str | None = None) -> AgentFailure:
    return AgentFailure(FailureKind.CONFIGURATION, message, model=model)
