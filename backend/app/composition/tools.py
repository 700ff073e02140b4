"""Makes what settings alone determine, together: no database, no services; part of the composition root."""

import os
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from app.agents.external.profile import AgentProfile
from app.agents.external.profile_file import built_in_profiles, load_profiles
from app.agents.external.roster import InstalledAgents
from app.agents.gateway_port import Dialect, Gateway
from app.agents.models.factory import Answering, ProviderKeys, build_model
from app.agents.models.judge import Judge
from app.agents.provider import AgentProvider
from app.composition.evaluators import build_evaluator_config, build_registry, project_rules
from app.composition.interpreters import build_interpreters
from app.composition.models import build_judge, provider_keys
from app.composition.sandbox import build_sandbox
from app.core.config import Settings
from app.core.errors import InvalidInputError
from app.forges.operator_file import ForgesFile, credentials_of, load_forges
from app.gateway.gateway import ModelGateway
from app.gateway.ledger import Budgets, Ledger, NoLedger
from app.gateway.prices import ListPrices
from app.gateway.recorded_model import BuildModel, recorded
from app.gateway.upstreams import KEY_VARIABLES, upstreams_of
from app.runners.evaluators.held_out.held_out_gate import HeldOutEvaluator
from app.runners.evaluators.project.project_file import ProjectFileError
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.testing.gate import PytestEvaluator
from app.runners.project import ProjectPanel, ProjectRules, panel_for
from app.schemas.agents import AgentBackend
from app.schemas.runs import Budget, HeldOutFeedback, RunPolicy
from app.workspaces.confine.agent_programs import AgentPrograms
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.interpreters import Interpreters
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.history.git import Git
from app.workspaces.sources.inspection import SourcePolicy


@dataclass(frozen=True, slots=True)
class Tools:
    """What settings alone determine; needs no database."""

    git: Git
    keys: ProviderKeys
    build_model: BuildModel
    sources: SourcePolicy
    limits: WorkspaceLimits
    policy: RunPolicy
    registry: EvaluatorRegistry
    interpreters: Interpreters
    agents: AgentProvider
    judge: Judge
    sandbox: Sandbox
    rules: ProjectRules
    forges: ForgesFile

    def held_out(self, files: Mapping[str, str], told: HeldOutFeedback) -> HeldOutEvaluator:
        """Make the gate of held-out tests, which run as the operator's test gate runs the base's."""
        gates = [each.evaluator for each in self.registry.all_registrations()]
        tests = next((each for each in gates if isinstance(each, PytestEvaluator)), PytestEvaluator())
        return HeldOutEvaluator(files=files, told=told, tests=tests)


def build_tools(
    settings: Settings,
    ledger: Ledger | None = None,
    budgets: Budgets | None = None,
    *,
    one_shot: bool = False,
) -> Tools:
    """Make what needs no database.

    Args:
        settings: the service's settings.
        ledger: keeps the requests to models.
        budgets: are checked before each request.
        one_shot: whether the process ends after one evaluation.
    """
    keys = provider_keys(settings)
    answering = Answering(settings.MODEL_MAX_OUTPUT_TOKENS, settings.MODEL_TEMPERATURE)
    build = recorded(partial(build_model, keys=keys, answering=answering), ledger or NoLedger(), budgets)
    upstreams = upstreams_of(keys)
    gateway = ModelGateway(
        upstreams,
        ListPrices(),
        ledger or NoLedger(),
        budgets=budgets,
        silence_seconds=settings.MODEL_SILENCE_SECONDS,
    )
    sandbox = build_sandbox(settings)
    interpreters = build_interpreters(settings, sandbox)
    forges = load_forges(settings.FORGES_FILE)
    evaluators = build_evaluator_config(settings, keys, build, sandbox, interpreters)
    return Tools(
        git=Git.find(os.environ),  # noqa: TID251 - proxies and certificates, for fetching
        keys=keys,
        build_model=build,
        sources=SourcePolicy(
            allowed_roots=tuple(settings.WORKSPACE_ROOTS),
            allow_file_urls=settings.WORKSPACE_ALLOW_FILE_URLS,
            allow_private_urls=settings.WORKSPACE_ALLOW_PRIVATE_URLS,
            credentials=credentials_of(forges, os.environ),  # noqa: TID251 - secrets that the file names
        ),
        limits=WorkspaceLimits(settings.WORKSPACE_MAX_FILES, settings.WORKSPACE_MAX_BYTES),
        policy=_policy(settings),
        registry=build_registry(settings, replace(evaluators, one_shot=one_shot)),
        interpreters=interpreters,
        agents=AgentProvider(
            keys=keys,
            run_program=AgentPrograms(sandbox, network=settings.AGENT_NETWORK),
            python=settings.WORKSPACE_PYTHON or Path(sys.executable),
            default_backend=settings.AGENT_BACKEND,
            default_model=settings.AGENT_MODEL,
            test_seconds=settings.EVALUATOR_TEST_TIMEOUT,
            silence_seconds=settings.MODEL_SILENCE_SECONDS,
            build=build,
            installed=installed_agents(settings, sandbox, gateway, upstreams),
        ),
        judge=build_judge(settings, keys, build),
        sandbox=sandbox,
        rules=project_rules(settings, sandbox, interpreters),
        forges=forges,
    )


def installed_agents(
    settings: Settings, sandbox: Sandbox, gateway: Gateway, configured: Collection[Dialect]
) -> InstalledAgents:
    """Make what finds installed agents: by AGENTS_FILE and the built-in profiles, in AGENTS_PATH and PATH."""
    search = os.environ.get("PATH", "")  # noqa: TID251 - where the operator's own programs are
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


def project_panel(settings: Settings, content: bytes | ProjectFileError | None) -> ProjectPanel:
    """Say what a project's file makes of this service's evaluators."""
    tools = build_tools(settings)
    return panel_for(tools.registry, content, replace(tools.rules, honour=True))


def _policy(settings: Settings) -> RunPolicy:
    return RunPolicy(
        max_attempts=settings.MAX_ATTEMPTS,
        pass_threshold=settings.EVALUATOR_PASS_THRESHOLD,
        blocking_threshold=settings.EVALUATOR_BLOCKING_THRESHOLD,
        deterministic_only=settings.EVALUATOR_RUN_DETERMINISTIC_ONLY,
        safe_fixes=settings.EVALUATOR_SAFE_FIXES,
        retry_context=settings.AGENT_RETRY_CONTEXT,
        max_agent_failures=settings.AGENT_MAX_FAILURES,
        retry_base_seconds=settings.AGENT_RETRY_BASE_SECONDS,
        max_unavailable_seconds=settings.MODEL_UNAVAILABLE_SECONDS,
        max_reset_wait_seconds=settings.MODEL_RESET_WAIT_SECONDS,
        budget=Budget(tokens=settings.RUN_MAX_TOKENS, cost_usd=settings.RUN_MAX_COST_USD),
    )


def _check_logins(settings: Settings, profiles: Mapping[str, AgentProfile]) -> None:
    """Refuse logins for profiles that take none, and logins among the service's own data.

    Raises:
        InvalidInputError: for the first of them.
    """
    data = settings.DATA_DIR.expanduser().resolve()
    for name, directory in sorted(settings.AGENT_LOGINS.items()):
        if name not in profiles or profiles[name].login is None:
            told = f"there is no profile {name!r} with a login: see the key `login` of profiles"
            raise InvalidInputError(told, field="AGENT_LOGINS")
        if directory.resolve().is_relative_to(data):
            told = f"the login of {name!r} lies in DATA_DIR, which no agent may reach: choose another place"
            raise InvalidInputError(told, field="AGENT_LOGINS")
