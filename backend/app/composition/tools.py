"""Builds what depends on settings alone, without database or services; part of the composition root."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from app.agents.external.profile import AgentProfile
from app.agents.external.profile_file import built_in_profiles, load_profiles
from app.agents.external.roster import InstalledAgents
from app.agents.gateway_port import Dialect, Gateway
from app.agents.models.judge import Judge
from app.agents.models.providers import ProviderKeys
from app.agents.provider import AgentProvider
from app.composition.judging_tools import JudgingTools, build_judging_tools
from app.composition.models import build_judge, model_builder
from app.composition.providers import provider_keys
from app.core.config import Settings
from app.core.errors import InvalidInputError
from app.core.own_python import own_python
from app.forges.operator_file import ForgesFile, credentials_of, load_forges
from app.gateway.gateway import ModelGateway
from app.gateway.ledger import Budgets, Ledger, NoLedger
from app.gateway.prices import ListPrices
from app.gateway.recorded_model import BuildModel
from app.gateway.upstreams import KEY_VARIABLES, upstreams_of
from app.schemas.agents import AgentBackend
from app.workspaces.confine.agent_programs import AgentPrograms
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Tools(JudgingTools):
    """The parts that depend on settings alone; they need no database."""

    keys: ProviderKeys
    build_model: BuildModel
    agents: AgentProvider
    judge: Judge
    forges: ForgesFile


def build_tools(settings: Settings, ledger: Ledger | None = None, budgets: Budgets | None = None) -> Tools:
    """Build the parts that need no database.

    Args:
        settings: the service's settings.
        ledger: records model requests.
        budgets: checked before each request.
    """
    keys = provider_keys(settings)
    build = model_builder(settings, keys, ledger, budgets)
    judging = build_judging_tools(settings, build)
    upstreams = upstreams_of(keys)
    gateway = ModelGateway(
        upstreams,
        ListPrices(),
        ledger or NoLedger(),
        budgets=budgets,
        silence_seconds=settings.MODEL_SILENCE_SECONDS,
    )
    forges = load_forges(settings.FORGES_FILE)
    credentials = credentials_of(forges, os.environ)  # noqa: TID251 - secrets that the file names
    return Tools(
        git=judging.git,
        sources=replace(judging.sources, credentials=credentials),
        limits=judging.limits,
        policy=judging.policy,
        registry=judging.registry,
        interpreters=judging.interpreters,
        sandbox=judging.sandbox,
        rules=judging.rules,
        keys=keys,
        build_model=build,
        agents=AgentProvider(
            keys=keys,
            run_program=AgentPrograms(judging.sandbox, network=settings.AGENT_NETWORK),
            python=settings.WORKSPACE_PYTHON or own_python(),
            default_backend=settings.AGENT_BACKEND,
            default_model=settings.AGENT_MODEL,
            test_seconds=settings.EVALUATOR_TEST_TIMEOUT,
            silence_seconds=settings.MODEL_SILENCE_SECONDS,
            build=build,
            installed=installed_agents(settings, judging.sandbox, gateway, upstreams),
        ),
        judge=build_judge(settings, keys, build),
        forges=forges,
    )


def installed_agents(
    settings: Settings, sandbox: Sandbox, gateway: Gateway, configured: Collection[Dialect]
) -> InstalledAgents:
    """Return the installed agents: AGENTS_FILE and built-in profiles, programs in AGENTS_PATH and PATH."""
    search = os.environ.get("PATH", "")  # noqa: TID251 - where the operator's programs are
    places = [*settings.AGENTS_PATH, *map(Path, filter(None, search.split(os.pathsep)))]
    own = load_profiles(settings.AGENTS_FILE)
    known = [*AgentBackend, *sorted(own)]
    if settings.AGENT_BACKEND not in known:
        told = f"there is no agent {str(settings.AGENT_BACKEND)!r}: choose one of {', '.join(known)}"
        raise InvalidInputError(told, field="AGENT_BACKEND")
    _check_logins(settings, own)
    built_in = built_in_profiles()
    return InstalledAgents(
        profiles=own,
        search=[each.expanduser().absolute() for each in places],
        gateway=gateway,
        starter=AgentPrograms(sandbox, network=settings.AGENT_NETWORK),
        python_places=interpreter_paths,
        missing_keys={each: KEY_VARIABLES[each] for each in Dialect if each not in configured},
        built_in=[name for name, profile in own.items() if built_in.get(name) is profile],
        logins=settings.AGENT_LOGINS,
        never_lent=(Path.home(), settings.DATA_DIR),
    )


def _check_logins(settings: Settings, profiles: Mapping[str, AgentProfile]) -> None:
    """Refuse logins for profiles that take none, and logins inside the service's data.

    Raises:
        InvalidInputError: names the first such login.
    """
    data = settings.DATA_DIR.expanduser().resolve()
    for name, directory in sorted(settings.AGENT_LOGINS.items()):
        if name not in profiles or profiles[name].login is None:
            told = f"there is no profile {name!r} with a login: see the key `login` of profiles"
            raise InvalidInputError(told, field="AGENT_LOGINS")
        if directory.resolve().is_relative_to(data):
            told = f"the login of {name!r} lies in DATA_DIR, which no agent may reach: choose another place"
            raise InvalidInputError(told, field="AGENT_LOGINS")
