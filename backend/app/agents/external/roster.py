"""The installed agents of this machine: which exist, what each lacks, and the agent for a run."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.agents.external.agent import ExternalAgent
from app.agents.external.installed import Installed, NotInstalledError, PythonPlaces, find_installed
from app.agents.external.login import login_problem
from app.agents.external.profile import AgentProfile, DriverKind, NetworkPolicy
from app.agents.gateway_port import Dialect, Gateway
from app.agents.port import Agent, AgentFailure, FailureKind
from app.agents.programs import ProgramStarter
from app.schemas.agents import AgentSpec

_PROVIDERS: Mapping[Dialect, tuple[str, ...]] = {
    Dialect.OPENAI_CHAT: ("openai-chat", "openai"),
    Dialect.OPENAI_RESPONSES: ("openai", "openai-chat"),
    Dialect.ANTHROPIC: ("anthropic",),
    Dialect.GEMINI: ("google", "google-gla", "gemini"),
}
"""What may precede the colon in a model's name, for agents of a dialect."""

_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}")


@dataclass(frozen=True, slots=True)
class InstalledAgent:
    """The state of a profile on this machine.

    Attributes:
        name: the profile's name.
        driver: how to drive the agent.
        dialect: the interface through which it asks models.
        model: its model if a run names none.
        network: what it reaches.
        version: the program's version; None if the program is missing or does not state it.
        tried: the version with which the profile was tried.
        missing: what must be done before it can work; None if it is ready.
        built_in: False for the operator's profiles.
    """

    name: str
    driver: DriverKind
    dialect: Dialect
    model: str | None
    network: NetworkPolicy
    version: str | None
    tried: str | None
    missing: str | None
    built_in: bool

    @property
    def ready(self) -> bool:
        """True if it can work."""
        return self.missing is None


@dataclass(frozen=True, slots=True)
class InstalledAgents:
    """Finds installed agents by their profiles.

    Attributes:
        profiles: by name.
        search: directories to search for programs, in order of preference.
        gateway: opens endpoints.
        starter: starts programs.
        python_places: finds the directories that an interpreter needs.
        missing_keys: by dialect without a provider, the setting to set.
        built_in: names of the profiles that come with PhaseRunner.
        logins: the directory with the vendor login, by profile.
        never_lent: directories that must not be part of a login.
    """

    profiles: Mapping[str, AgentProfile]
    search: Sequence[Path]
    gateway: Gateway
    starter: ProgramStarter
    python_places: PythonPlaces
    missing_keys: Mapping[Dialect, str]
    built_in: Collection[str] = ()
    logins: Mapping[str, Path] = field(default_factory=dict[str, Path])
    never_lent: Sequence[Path] = ()

    def make(
        self, name: str, spec: AgentSpec, default_model: str | None = None, nudges: int = 0
    ) -> Agent | AgentFailure:
        """Return the agent of a profile, or a failure that says what is missing.

        Args:
            name: a known profile.
            spec: the agent that the run asks for.
            default_model: `provider:model` for runs that name none; used if it fits the dialect.
            nudges: how often it is asked once more if it changed no file.
        """
        profile = self.profiles[name]
        model = model_of(name, profile, spec.model, default_model)
        if isinstance(model, AgentFailure):
            return model
        if missing := self._missing_key(profile) or self._missing_login(name, profile):
            return _refuse(f"{name}: {missing}", model)
        try:
            installed = self._find(profile)
        except (NotInstalledError, OSError) as error:
            return _refuse(f"{name}: {error}", model)
        return ExternalAgent(
            name,
            profile,
            installed,
            model,
            self.gateway,
            self.starter,
            self.python_places,
            self.logins.get(name) if profile.login else None,
            nudges,
        )

    def describe_all(self) -> list[InstalledAgent]:
        """Describe every profile, by name."""
        return [each for name in sorted(self.profiles) if (each := self.describe(name)) is not None]

    def describe(self, name: str) -> InstalledAgent | None:
        """Describe a profile. Return None if there is none with this name."""
        profile = self.profiles.get(name)
        if profile is None:
            return None
        version, missing = None, None
        try:
            version = self._find(profile).version
        except (NotInstalledError, OSError) as error:
            missing = str(error)
        return InstalledAgent(
            name=name,
            driver=profile.driver,
            dialect=profile.dialect,
            model=profile.model,
            network=profile.network,
            version=version,
            tried=profile.tried,
            missing=missing or self._missing_key(profile) or self._missing_login(name, profile),
            built_in=name in self.built_in,
        )

    def _find(self, profile: AgentProfile) -> Installed:
        return find_installed(profile, self.search, self.python_places)

    def _missing_key(self, profile: AgentProfile) -> str | None:
        variable = self.missing_keys.get(profile.dialect)
        if variable is None or profile.asks_its_vendor:
            return None
        return f"no key for {profile.dialect} models: set {variable}"

    def _missing_login(self, name: str, profile: AgentProfile) -> str | None:
        if profile.login is None:
            return None
        directory = self.logins.get(name)
        if directory is None:
            return f"no login: log in with the agent, and set AGENT_LOGINS={name}=DIRECTORY"
        problem = login_problem(directory, self.never_lent)
        return f"AGENT_LOGINS: {problem}" if problem else None


def model_of(
    name: str, profile: AgentProfile, asked: str | None, default: str | None = None
) -> str | AgentFailure:
    """Return the model for an agent, without the provider, or a failure that says why there is none."""
    allowed = _PROVIDERS[profile.dialect]
    provider, colon, model = (asked or default or "").partition(":")
    if asked is None:
        model = model if provider in allowed else profile.model or ""
    elif not colon:
        model = asked
    elif provider not in allowed:
        told = f"{name} speaks {profile.dialect}: give a model as {allowed[0]}:NAME, not {asked}"
        return _refuse(told, asked)
    if not model:
        return _refuse(f"{name} has no model: give one as {allowed[0]}:NAME")
    if not _MODEL.fullmatch(model):
        return _refuse(f"{model!r} cannot be the name of a model", model)
    return model


def _refuse(message: str, model: str | None = None) -> AgentFailure:
    return AgentFailure(FailureKind.CONFIGURATION, message, model=model)
