"""Builds the object graph from settings: the one place that knows which part is made of which."""

import asyncio
import logging
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

import anyio
from uv import find_uv_bin

from app.agents.judge import FirstContender, Judge, ModelJudge
from app.agents.model_factory import ProviderKeys, build_model
from app.agents.port import AgentLimits
from app.agents.provider import AgentProvider
from app.api.access import ApiServices
from app.core.config import Settings
from app.core.errors import InvalidInputError
from app.db.embedded import ensure_running
from app.db.engine import Sessions, create_engine, create_sessions, plain_url
from app.db.migrate import upgrade_to_head
from app.jobs.silence import SilenceRules
from app.jobs.worker import JobWorker, WorkerTimings
from app.runners.evaluators.commands.programs import find_programs
from app.runners.evaluators.plugins import PluginError, add_plugins
from app.runners.evaluators.project.project_file import ProjectFileError
from app.runners.evaluators.project.project_registry import ProjectLimits
from app.runners.evaluators.registry import (
    MODEL_EVALUATORS,
    EvaluatorConfig,
    EvaluatorRegistry,
    create_default_registry,
)
from app.runners.phase_runner import PhaseRunner
from app.runners.project import ProjectPanel, ProjectRules, panel_for
from app.runners.safe_fixes import SafeFixes
from app.schemas.agents import AgentBackend, AgentSpec
from app.schemas.environments import EnvironmentMode
from app.schemas.project_file import ProjectFileMode
from app.schemas.runs import Budget, RunPolicy
from app.services.advance import Advance
from app.services.calibration import CalibrationService
from app.services.candidates import CandidateRuns
from app.services.escalations import EscalationService
from app.services.evaluations import EvaluationService
from app.services.evaluators import EvaluatorService
from app.services.forking import ForkService
from app.services.idempotency import IdempotencyService
from app.services.judging import Judging
from app.services.marks import MarkService
from app.services.pausing import PauseService
from app.services.producing import Producing
from app.services.queries import RunQueries
from app.services.reconcile import Reconcile
from app.services.recording import Bell, Recorder
from app.services.results import ResultService
from app.services.reviews import ReviewQueries
from app.services.run_lists import RunLists
from app.services.sprints import SprintService
from app.services.status import Info, StatusService
from app.services.takeover import Takeover
from app.services.tokens import TokenService
from app.services.trees import RunTrees
from app.workspaces.agent_programs import AgentPrograms
from app.workspaces.environments.installing import Installer, InstallOptions
from app.workspaces.environments.interpreters import Interpreters, OneInterpreter, WorkspaceEnvironments
from app.workspaces.environments.shelf import Bounds, Shelf
from app.workspaces.environments.uv_words import search_variables, uv_variables
from app.workspaces.git import Git
from app.workspaces.limits import WorkspaceLimits
from app.workspaces.ownership import Places, owning, remove_leftovers
from app.workspaces.removal import remove_tree
from app.workspaces.sandbox import Sandbox, SandboxLimits, SandboxSettings
from app.workspaces.sources import SourcePolicy
from app.workspaces.store import WorkspaceStore

logger = logging.getLogger(__name__)

ABOUT_THE_AGENT = ("agent_claim", "plan_artifact")
"""Evaluators that judge what an agent said or planned; they have no say about a workspace alone."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What settings alone determine; needs no database."""

    git: Git
    keys: ProviderKeys
    sources: SourcePolicy
    limits: WorkspaceLimits
    policy: RunPolicy
    registry: EvaluatorRegistry
    interpreters: Interpreters
    agents: AgentProvider
    judge: Judge
    sandbox: Sandbox
    rules: ProjectRules


@dataclass(frozen=True, slots=True)
class Container:
    """The services of one process."""

    api: ApiServices
    tokens: TokenService
    advance: Advance
    takeover: Takeover
    sandbox: Sandbox

    async def warn_if_unconfined(self) -> None:
        """Say in the log of a worker that it judges without a sandbox, or cannot judge tests."""
        state = await self.sandbox.state()
        if not state.confined:
            logger.warning(state.detail)


def build_tools(settings: Settings) -> Tools:
    """Make what needs no database."""
    keys = _keys(settings)
    sandbox = build_sandbox(settings)
    interpreters = build_interpreters(settings, sandbox)
    return Tools(
        git=Git.find(os.environ),  # noqa: TID251 - proxies and certificates, for fetching
        keys=keys,
        sources=SourcePolicy(
            allowed_roots=tuple(settings.WORKSPACE_ROOTS), allow_file_urls=settings.WORKSPACE_ALLOW_FILE_URLS
        ),
        limits=WorkspaceLimits(settings.WORKSPACE_MAX_FILES, settings.WORKSPACE_MAX_BYTES),
        policy=_policy(settings),
        registry=_registry(settings, _evaluator_config(settings, keys, sandbox, interpreters)),
        interpreters=interpreters,
        agents=AgentProvider(
            keys=keys,
            run_program=AgentPrograms(sandbox, network=settings.AGENT_NETWORK),
            python=settings.WORKSPACE_PYTHON or Path(sys.executable),
            default_backend=settings.AGENT_BACKEND,
            default_model=settings.AGENT_MODEL,
            test_seconds=settings.EVALUATOR_TEST_TIMEOUT,
        ),
        judge=_judge(settings, keys),
        sandbox=sandbox,
        rules=_project_rules(settings, sandbox),
    )


def build_sandbox(settings: Settings) -> Sandbox:
    """Make what confines the workspaces' programs."""
    limits = SandboxLimits(
        memory_bytes=settings.SANDBOX_MEMORY_BYTES,
        processes=settings.SANDBOX_PROCESSES,
        file_bytes=settings.SANDBOX_FILE_BYTES,
    )
    return Sandbox(
        SandboxSettings(settings.SANDBOX, limits, tuple(settings.SANDBOX_READABLE), settings.SANDBOX_CGROUP)
    )


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


def build_container(
    settings: Settings, sessions: Sessions, bell: Bell, scratch: Path | None = None
) -> Container:
    """Make the services of a process that has a database; `scratch` is what `open_scratch` gave."""
    tools = build_tools(settings)
    store = WorkspaceStore(settings.DATA_DIR, tools.git, tools.limits, scratch)
    trees = RunTrees(store, sessions)
    sprints = SprintService(sessions, store, tools.git, tools.sources, tools.policy, bell)
    runner = PhaseRunner(tools.registry, sprints.begin, tools.rules)
    recorder = Recorder(sessions, bell)
    limits = AgentLimits(
        seconds=settings.AGENT_TIMEOUT,
        requests=settings.AGENT_MAX_REQUESTS,
        total_tokens=settings.AGENT_MAX_TOKENS,
    )
    fixer = SafeFixes(settings.EVALUATOR_LINT_TIMEOUT)
    candidates = CandidateRuns(tools.agents, trees, tools.interpreters, fixer)
    producing = Producing(sessions, recorder, runner, candidates, limits)
    judging = Judging(sessions, recorder, runner, trees, tools.judge)
    api = ApiServices(
        sprints=sprints,
        pauses=PauseService(sessions, bell),
        forks=ForkService(sessions, tools.policy, bell),
        lists=RunLists(sessions),
        queries=RunQueries(sessions),
        results=ResultService(sessions, trees),
        escalations=EscalationService(sessions, bell),
        evaluations=build_evaluations(tools),
        evaluators=EvaluatorService(sessions, tools.registry.describe()),
        marks=MarkService(sessions),
        reviews=ReviewQueries(sessions),
        idempotency=IdempotencyService(sessions),
        status=StatusService(sessions, _info(settings, tools), tools.sandbox),
    )
    return Container(
        api,
        TokenService(sessions),
        Advance(sessions, recorder, producing, judging),
        Takeover(sessions, Reconcile(sessions), _silence(settings), settings.ENGINE_STALLED_AFTER_SECONDS),
        tools.sandbox,
    )


def build_evaluations(tools: Tools) -> EvaluationService:
    """Make the service that judges workspaces without agents."""
    registry = tools.registry.without(ABOUT_THE_AGENT)

    async def begin(_: object) -> None:
        raise AssertionError("nothing is started here")

    return EvaluationService(
        PhaseRunner(registry, begin, tools.rules),
        tools.policy,
        tools.git,
        tools.sources,
        tools.limits,
        tools.registry.describe(),
    )


def build_worker(settings: Settings, database_url: str, container: Container) -> JobWorker:
    """Make the worker of a process."""
    timings = WorkerTimings(
        heartbeat=settings.ENGINE_HEARTBEAT_SECONDS,
        stalled_after=settings.ENGINE_STALLED_AFTER_SECONDS,
        sweep=settings.ENGINE_RECONCILE_SECONDS,
        grace=settings.SHUTDOWN_GRACE_SECONDS,
    )
    return JobWorker(
        database_url,
        container.advance,
        container.takeover,
        concurrency=settings.WORKER_CONCURRENCY,
        timings=timings,
    )


def _silence(settings: Settings) -> SilenceRules:
    return SilenceRules.of(
        heartbeat=settings.ENGINE_HEARTBEAT_SECONDS,
        stalled_after=settings.ENGINE_STALLED_AFTER_SECONDS,
        sweep=settings.ENGINE_RECONCILE_SECONDS,
    )


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncGenerator[str]:
    """Give the URL of a database with the newest schema; the embedded one runs while the block does.

    Raises:
        InvalidInputError: DATABASE_URL is not one, or DATA_DIR cannot be written to.
        DatabaseSetupError: there is none, and it cannot be made.
    """
    await _prepare_data_dir(anyio.Path(settings.DATA_DIR))
    if settings.DATABASE_URL is not None:
        url = plain_url(settings.DATABASE_URL.get_secret_value())
        await upgrade_to_head(url)
        yield url
        return
    lease = await ensure_running(Path(await anyio.Path(settings.DATA_DIR).absolute()))
    try:
        await upgrade_to_head(lease.url)
        yield lease.url
    finally:
        lease.release()


@asynccontextmanager
async def open_scratch(settings: Settings) -> AsyncGenerator[Path]:
    """Give a directory that this process owns, and let its children and temporary files be known as its own.

    What processes left that were killed is removed, now and every so often while the block runs.

    Raises:
        InvalidInputError: DATA_DIR cannot be written to.
    """
    parents = (settings.DATA_DIR.absolute() / "scratch", Path(tempfile.gettempdir()))
    places = Places(parents, settings.SANDBOX_CGROUP)
    with owning(places) as directories:
        await _remove_leftovers(places)
        sweeper = asyncio.create_task(_remove_leftovers_again(places, settings.ENGINE_LEFTOVERS_SECONDS))
        try:
            yield directories[0]
        finally:
            sweeper.cancel()
            await asyncio.wait([sweeper])
            with anyio.CancelScope(shield=True):
                for directory in directories:
                    await remove_tree(directory)


async def _remove_leftovers_again(places: Places, period: float) -> None:
    while True:
        await asyncio.sleep(period)
        await _remove_leftovers(places)


async def _remove_leftovers(places: Places) -> None:
    try:
        found = await remove_leftovers(places)
    except OSError as error:
        logger.warning("what dead processes left cannot be looked for: %s", error)
        return
    if found:
        logger.warning(
            "processes that were killed had left %d processes, %d control groups and %d directories; "
            "they were removed",
            found.processes,
            found.groups,
            found.directories,
        )


@asynccontextmanager
async def open_sessions(settings: Settings, database_url: str) -> AsyncGenerator[Sessions]:
    """Give the session factory while the block runs."""
    engine = create_engine(database_url, pool_size=settings.DATABASE_POOL_SIZE)
    try:
        yield create_sessions(engine)
    finally:
        await engine.dispose()


@asynccontextmanager
async def evaluation_service(settings: Settings) -> AsyncGenerator[EvaluationService]:
    """Give the service that judges workspaces, without server or database."""
    places = Places((Path(tempfile.gettempdir()),), settings.SANDBOX_CGROUP)
    with owning(places) as (own,):
        await _remove_leftovers(places)
        try:
            yield build_evaluations(build_tools(settings))
        finally:
            with anyio.CancelScope(shield=True):
                await remove_tree(own)


def build_calibration(tools: Tools) -> CalibrationService:
    """Make the service that measures the evaluators."""
    return CalibrationService(tools.registry, tools.policy, tools.git, tools.limits, ABOUT_THE_AGENT)


@asynccontextmanager
async def token_service(settings: Settings) -> AsyncGenerator[TokenService]:
    """Give the service that manages tokens, on the service's database."""
    async with open_database(settings) as url, open_sessions(settings, url) as sessions:
        yield TokenService(sessions)


async def _prepare_data_dir(data_dir: anyio.Path) -> None:
    try:
        await data_dir.mkdir(parents=True, exist_ok=True)
        ignore = data_dir / ".gitignore"
        if not await ignore.exists():
            # It may lie inside a repository, which must not look changed because of it.
            await ignore.write_text("*\n")
    except OSError as error:
        raise InvalidInputError(
            f"{data_dir} cannot be written to: {error.strerror}", field="DATA_DIR"
        ) from error


def _keys(settings: Settings) -> ProviderKeys:
    anthropic, openai = settings.ANTHROPIC_API_KEY, settings.OPENAI_API_KEY
    return ProviderKeys(
        anthropic_api_key=anthropic.get_secret_value() if anthropic else None,
        openai_api_key=openai.get_secret_value() if openai else None,
        anthropic_base_url=settings.ANTHROPIC_BASE_URL,
        openai_base_url=settings.OPENAI_BASE_URL,
    )


def _policy(settings: Settings) -> RunPolicy:
    return RunPolicy(
        max_attempts=settings.EVALUATOR_MAX_RETRIES,
        pass_threshold=settings.EVALUATOR_PASS_THRESHOLD,
        blocking_threshold=settings.EVALUATOR_BLOCKING_THRESHOLD,
        deterministic_only=settings.EVALUATOR_RUN_DETERMINISTIC_ONLY,
        safe_fixes=settings.EVALUATOR_SAFE_FIXES,
        max_agent_failures=settings.AGENT_MAX_FAILURES,
        retry_base_seconds=settings.AGENT_RETRY_BASE_SECONDS,
        budget=Budget(tokens=settings.RUN_MAX_TOKENS, cost_usd=settings.RUN_MAX_COST_USD),
    )


def _evaluator_models(settings: Settings, keys: ProviderKeys) -> list[str]:
    """Names of the models that judge, the first choice first: those whose provider can be asked."""
    named = (settings.EVALUATOR_MODEL, settings.EVALUATOR_FALLBACK_MODEL)
    return [each for each in dict.fromkeys(named) if each and keys.has_key_for(each)]


def _evaluator_config(
    settings: Settings, keys: ProviderKeys, sandbox: Sandbox, interpreters: Interpreters
) -> EvaluatorConfig:
    # Without a key no model judges; an evaluator that could only say so after each attempt is noise.
    models = [build_model(name, keys) for name in _evaluator_models(settings, keys)]
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


def _project_rules(settings: Settings, sandbox: Sandbox) -> ProjectRules:
    search = os.environ.get("PATH", "")  # noqa: TID251 - where the operator's own programs are
    places = [*map(Path, filter(None, search.split(os.pathsep))), Path(sys.executable).parent]
    python = settings.WORKSPACE_PYTHON or Path(sys.executable)
    return ProjectRules(
        honour=settings.EVALUATOR_PROJECT_FILE is ProjectFileMode.HONOUR,
        limits=ProjectLimits(frozenset(settings.EVALUATOR_REQUIRED), settings.EVALUATOR_COMMAND_NETWORK),
        sandbox=sandbox,
        programs=find_programs(python, places, settings.SANDBOX_READABLE),
    )


def project_panel(settings: Settings, content: bytes | ProjectFileError | None) -> ProjectPanel:
    """Say what a project's file makes of this service's evaluators."""
    tools = build_tools(settings)
    return panel_for(tools.registry, content, replace(tools.rules, honour=True))


def _judge(settings: Settings, keys: ProviderKeys) -> Judge:
    models = _evaluator_models(settings, keys)
    if not models:
        return FirstContender()
    return ModelJudge(
        models[0],
        partial(build_model, keys=keys),
        timeout=settings.EVALUATOR_LLM_TIMEOUT,
        fallback_model=models[1] if len(models) > 1 else None,
        output_mode=settings.EVALUATOR_OUTPUT_MODE,
    )


def _info(settings: Settings, tools: Tools) -> Info:
    model = tools.agents.model_for(AgentSpec())
    backends: Sequence[AgentBackend] = (AgentBackend.AUTO, AgentBackend.PYDANTIC_AI)
    with_model = tools.agents.default_backend in backends
    return Info(
        version=version("phaserunner"),
        default_agent=f"pydantic-ai {model}" if with_model else str(tools.agents.default_backend),
        default_agent_ready=not with_model or tools.keys.has_key_for(model),
        evaluator_model=settings.EVALUATOR_MODEL,
        max_attempts=tools.policy.max_attempts,
    )
