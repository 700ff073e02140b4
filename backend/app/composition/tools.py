"""Makes what settings alone determine: evaluators, agents, sandbox, rules; no database, no services."""

import os
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from uv import find_uv_bin

from app.agents.external.profile_file import built_in_profiles, load_profiles
from app.agents.external.roster import InstalledAgents
from app.agents.gateway_port import Dialect, Gateway
from app.agents.models.factory import ProviderKeys, build_model
from app.agents.models.judge import FirstContender, Judge, ModelJudge
from app.agents.provider import AgentProvider
from app.core.config import Settings
from app.core.errors import InvalidInputError
from app.forges.operator_file import ForgesFile, credentials_of, load_forges
from app.gateway.gateway import ModelGateway
from app.gateway.ledger import Budgets, Ledger, NoLedger
from app.gateway.prices import ListPrices
from app.gateway.recorded_model import BuildModel, recorded
from app.gateway.upstreams import KEY_VARIABLES, upstreams_of
from app.runners.evaluators.commands.programs import find_programs
from app.runners.evaluators.held_out.held_out_gate import HeldOutEvaluator
from app.runners.evaluators.plugins import PluginError, add_plugins
from app.runners.evaluators.project.project_file import ProjectFileError
from app.runners.evaluators.project.project_registry import ProjectLimits
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.registry import MODEL_EVALUATORS, EvaluatorConfig, create_default_registry
from app.runners.evaluators.testing.gate import PytestEvaluator
from app.runners.project import ProjectPanel, ProjectRules, panel_for
from app.schemas.agents import AgentBackend
from app.schemas.held_out import HeldOutFeedback
from app.schemas.modes import EnvironmentMode
from app.schemas.project_file import ProjectFileMode
from app.schemas.runs import Budget, RunPolicy
from app.workspaces.confine.agent_programs import AgentPrograms
from app.workspaces.confine.bubblewrap import SandboxLimits
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.egress import EgressRules, hosts_of
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.installing import Installer, InstallOptions
from app.workspaces.environments.interpreters import Interpreters, OneInterpreter, WorkspaceEnvironments
from app.workspaces.environments.shelf import Bounds, Shelf
from app.workspaces.environments.uv_words import search_variables, uv_variables
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
    build = recorded(partial(build_model, keys=keys), ledger or NoLedger(), budgets)
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
    evaluators = _evaluator_config(settings, keys, build, sandbox, interpreters)
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
        registry=_registry(settings, replace(evaluators, one_shot=one_shot)),
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
        judge=_judge(settings, keys, build),
        sandbox=sandbox,
        rules=_project_rules(settings, sandbox, interpreters),
        forges=forges,
    )


def build_sandbox(settings: Settings) -> Sandbox:
    """Make what confines the workspaces' programs."""
    limits = SandboxLimits(
        memory_bytes=settings.SANDBOX_MEMORY_BYTES,
        temporary_bytes=settings.SANDBOX_TEMPORARY_BYTES,
        processes=settings.SANDBOX_PROCESSES,
        file_bytes=settings.SANDBOX_FILE_BYTES,
    )
    return Sandbox(
        SandboxSettings(
            settings.SANDBOX,
            limits,
            tuple(settings.SANDBOX_READABLE),
            settings.SANDBOX_CGROUP,
            _egress_rules(settings, os.environ),  # noqa: TID251 - proxies, and addresses of package indexes
        )
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
    built_in = built_in_profiles()
    return InstalledAgents(
        profiles=own,
        search=[each.expanduser().absolute() for each in places],
        gateway=gateway,
        starter=AgentPrograms(sandbox, network=settings.AGENT_NETWORK),
        python_places=interpreter_paths,
        missing_keys={each: KEY_VARIABLES[each] for each in Dialect if each not in configured},
        built_in=[name for name, profile in own.items() if built_in.get(name) is profile],
    )


def _egress_rules(settings: Settings, environ: Mapping[str, str]) -> EgressRules:
    """The package indexes of the operator may have private addresses; programs with a network reach them."""
    indexes = [each for value in uv_variables(environ).values() for each in value.split() if "://" in each]
    proxies = [environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")]
    upstream = next((each for each in proxies if each), None)
    own = hosts_of([upstream] if upstream else [])
    return EgressRules(hosts_of([*indexes, *settings.SANDBOX_EGRESS_ALLOW]) - own, upstream)


def build_interpreters(settings: Settings, sandbox: Sandbox) -> Interpreters:
    """Make what chooses the interpreter of a workspace."""
    if settings.WORKSPACE_PYTHON is not None or settings.WORKSPACE_ENVIRONMENTS is EnvironmentMode.OFF:
        return OneInterpreter(settings.WORKSPACE_PYTHON)
    data_dir = settings.DATA_DIR.absolute()
    options = InstallOptions(
        network=settings.ENVIRONMENT_NETWORK,
        build=settings.ENVIRONMENT_BUILD,
        seconds=settings.ENVIRONMENT_TIMEOUT,
        env=uv_variables(os.environ),  # noqa: TID251 - indexes, proxies and certificates, for fetching
        cache_size=settings.ENVIRONMENT_MAX_BYTES,
    )
    bounds = Bounds(settings.ENVIRONMENT_MAX_BYTES, settings.ENVIRONMENT_MAX_DAYS * 86_400)
    return WorkspaceEnvironments(
        Shelf(data_dir / "environments", bounds),
        Installer(Path(find_uv_bin()), sandbox, data_dir / "uv-cache", options),
        search_variables(os.environ),  # noqa: TID251 - where Python versions are looked for
        settings.ENVIRONMENT_CANDIDATE_DEPENDENCIES,
    )


def project_panel(settings: Settings, content: bytes | ProjectFileError | None) -> ProjectPanel:
    """Say what a project's file makes of this service's evaluators."""
    tools = build_tools(settings)
    return panel_for(tools.registry, content, replace(tools.rules, honour=True))


def provider_keys(settings: Settings) -> ProviderKeys:
    """Return the keys with which models can be asked."""
    anthropic, openai, gemini = settings.ANTHROPIC_API_KEY, settings.OPENAI_API_KEY, settings.GEMINI_API_KEY
    return ProviderKeys(
        anthropic_api_key=anthropic.get_secret_value() if anthropic else None,
        openai_api_key=openai.get_secret_value() if openai else None,
        anthropic_base_url=settings.ANTHROPIC_BASE_URL,
        openai_base_url=settings.OPENAI_BASE_URL,
        gemini_api_key=gemini.get_secret_value() if gemini else None,
        gemini_base_url=settings.GEMINI_BASE_URL,
    )


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


def _evaluator_models(settings: Settings, keys: ProviderKeys) -> list[str]:
    """Names of the models that judge, the first choice first: those whose provider can be asked."""
    named = (settings.EVALUATOR_MODEL, settings.EVALUATOR_FALLBACK_MODEL)
    return [each for each in dict.fromkeys(named) if each and keys.has_key_for(each)]


def _evaluator_config(
    settings: Settings, keys: ProviderKeys, build: BuildModel, sandbox: Sandbox, interpreters: Interpreters
) -> EvaluatorConfig:
    # Without a key no model judges; an evaluator that could only say so after each attempt is noise.
    models = [build(name) for name in _evaluator_models(settings, keys)]
    return EvaluatorConfig(
        lint_timeout=settings.EVALUATOR_LINT_TIMEOUT,
        test_timeout=settings.EVALUATOR_TEST_TIMEOUT,
        llm_timeout=settings.EVALUATOR_LLM_TIMEOUT,
        pass_threshold=settings.EVALUATOR_PASS_THRESHOLD,
        blocking_threshold=settings.EVALUATOR_BLOCKING_THRESHOLD,
        model=models[0] if models else None,
        fallback_model=models[1] if len(models) > 1 else None,
        output_mode=settings.EVALUATOR_OUTPUT_MODE,
        python=settings.WORKSPACE_PYTHON,
        type_checker=settings.EVALUATOR_TYPE_CHECKER,
        interpreters=interpreters,
        sandbox=sandbox,
        limits=WorkspaceLimits(settings.WORKSPACE_MAX_FILES, settings.WORKSPACE_MAX_BYTES),
        outside=settings.EVALUATOR_OUTSIDE,
        protected=settings.EVALUATOR_PROTECTED,
        base_failures=settings.EVALUATOR_BASE_FAILURES,
        counter_tests=settings.EVALUATOR_COUNTER_TESTS,
        in_process_only=settings.EVALUATOR_IN_PROCESS_ONLY,
    )


def _registry(settings: Settings, config: EvaluatorConfig) -> EvaluatorRegistry:
    """The built-in evaluators, and those of other packages that the operator names."""
    registry = create_default_registry(config)
    try:
        add_plugins(registry, settings.EVALUATOR_PLUGINS)
    except PluginError as error:
        raise InvalidInputError(str(error), field="EVALUATOR_PLUGINS") from error
    known = registry.names() | MODEL_EVALUATORS
    if unknown := [name for name in settings.EVALUATOR_REQUIRED if name not in known]:
        # One that is misspelt would protect nothing.
        raise InvalidInputError(f"there is no evaluator {unknown[0]!r}", field="EVALUATOR_REQUIRED")
    return registry


def _project_rules(settings: Settings, sandbox: Sandbox, interpreters: Interpreters) -> ProjectRules:
    search = os.environ.get("PATH", "")  # noqa: TID251 - where the operator's own programs are
    places = [*map(Path, filter(None, search.split(os.pathsep))), Path(sys.executable).parent]
    python = settings.WORKSPACE_PYTHON or Path(sys.executable)
    return ProjectRules(
        honour=settings.EVALUATOR_PROJECT_FILE is ProjectFileMode.HONOUR,
        limits=ProjectLimits(frozenset(settings.EVALUATOR_REQUIRED), settings.EVALUATOR_COMMAND_NETWORK),
        sandbox=sandbox,
        programs=find_programs(python, places, settings.SANDBOX_READABLE),
        interpreters=interpreters,
    )


def _judge(settings: Settings, keys: ProviderKeys, build: BuildModel) -> Judge:
    models = _evaluator_models(settings, keys)
    if not models:
        return FirstContender()
    return ModelJudge(
        models[0],
        build,
        timeout=settings.EVALUATOR_LLM_TIMEOUT,
        fallback_model=models[1] if len(models) > 1 else None,
        output_mode=settings.EVALUATOR_OUTPUT_MODE,
    )
