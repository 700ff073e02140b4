"""Builds the evaluators, and the rules for what a project file may change; part of the composition root."""

import asyncio
import os
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app.composition.interpreters import build_extensions, build_setups
from app.core.config import Settings
from app.core.errors import InvalidInputError
from app.core.own_python import own_python
from app.runners.evaluators.commands.programs import find_programs
from app.runners.evaluators.plugins import PluginError, add_plugins
from app.runners.evaluators.project.project_registry import OperatorLimits
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.registry import MODEL_EVALUATORS, EvaluatorConfig, create_default_registry
from app.runners.project import ProjectRules
from app.schemas.modes import CandidateDependencies, ProjectFileMode
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.interpreters import Interpreters
from app.workspaces.files.limits import WorkspaceLimits

if TYPE_CHECKING:
    from pydantic_ai.models import Model


def build_evaluator_config(
    settings: Settings, models: Sequence["Model"], sandbox: Sandbox, interpreters: Interpreters
) -> EvaluatorConfig:
    """Return the configuration of the built-in evaluators.

    Without `models`, no evaluator asks a model: one that could only report this after each attempt is noise.
    """
    at_once = evaluators_at_once(settings)
    return EvaluatorConfig(
        lint_timeout=settings.EVALUATOR_LINT_TIMEOUT,
        type_check_timeout=settings.EVALUATOR_TYPE_CHECK_TIMEOUT,
        test_timeout=settings.EVALUATOR_TEST_TIMEOUT,
        test_processes=settings.EVALUATOR_TEST_PROCESSES,
        llm_timeout=settings.EVALUATOR_LLM_TIMEOUT,
        pass_threshold=settings.EVALUATOR_PASS_THRESHOLD,
        blocking_threshold=settings.EVALUATOR_BLOCKING_THRESHOLD,
        model=models[0] if models else None,
        fallback_model=models[1] if len(models) > 1 else None,
        output_mode=settings.EVALUATOR_OUTPUT_MODE,
        python=settings.WORKSPACE_PYTHON,
        type_checker=settings.EVALUATOR_TYPE_CHECKER,
        interpreters=interpreters,
        extensions=build_extensions(settings, sandbox),
        sandbox=sandbox,
        limits=WorkspaceLimits(settings.WORKSPACE_MAX_FILES, settings.WORKSPACE_MAX_BYTES),
        outside=settings.EVALUATOR_OUTSIDE,
        protected=settings.EVALUATOR_PROTECTED,
        base_failures=settings.EVALUATOR_BASE_FAILURES,
        counter_tests=settings.EVALUATOR_COUNTER_TESTS,
        in_process_only=settings.EVALUATOR_IN_PROCESS_ONLY,
        untested_code=settings.EVALUATOR_UNTESTED_CODE,
        turns=asyncio.Semaphore(at_once) if at_once is not None else None,
    )


def evaluators_at_once(settings: Settings) -> int | None:
    """Return how many evaluators may ask a model at once: one if the model's server is this machine."""
    if settings.EVALUATOR_LLM_AT_ONCE is not None:
        return settings.EVALUATOR_LLM_AT_ONCE
    is_local = settings.EVALUATOR_MODEL.startswith("openai") and _is_local(settings.OPENAI_BASE_URL)
    return 1 if is_local else None


def _is_local(url: str | None) -> bool:
    host = urlsplit(url or "").hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def build_registry(settings: Settings, config: EvaluatorConfig) -> EvaluatorRegistry:
    """Register the built-in evaluators, and those of other packages that the operator names.

    Raises:
        InvalidInputError: the settings name a package or an evaluator that does not exist.
    """
    registry = create_default_registry(config)
    try:
        add_plugins(registry, settings.EVALUATOR_PLUGINS)
    except PluginError as error:
        raise InvalidInputError(str(error), field="EVALUATOR_PLUGINS") from error
    known = registry.names() | MODEL_EVALUATORS
    if unknown := [name for name in settings.EVALUATOR_REQUIRED if name not in known]:
        # A misspelt name would protect nothing.
        raise InvalidInputError(f"there is no evaluator {unknown[0]!r}", field="EVALUATOR_REQUIRED")
    return registry


def project_rules(settings: Settings, sandbox: Sandbox, interpreters: Interpreters) -> ProjectRules:
    """Return what a project file may change, and the programs that its commands may start."""
    search = os.environ.get("PATH", "")  # noqa: TID251 - where the operator's programs are
    places = [*map(Path, filter(None, search.split(os.pathsep))), own_python().parent]
    python = settings.WORKSPACE_PYTHON or own_python()
    programs = find_programs(python, places, settings.SANDBOX_READABLE)
    return ProjectRules(
        honour=settings.EVALUATOR_PROJECT_FILE is ProjectFileMode.HONOUR,
        limits=OperatorLimits(
            frozenset(settings.EVALUATOR_REQUIRED),
            settings.EVALUATOR_COMMAND_NETWORK,
            settings.ENVIRONMENT_SETUP_NETWORK,
            frozenset(settings.ENVIRONMENT_SECRETS),
        ),
        sandbox=sandbox,
        programs=programs,
        interpreters=interpreters,
        protected=settings.EVALUATOR_PROTECTED,
        setups=build_setups(settings, sandbox, programs),
        candidate_dependencies=settings.ENVIRONMENT_CANDIDATE_DEPENDENCIES is CandidateDependencies.INSTALL,
        secrets={name: each.get_secret_value() for name, each in settings.ENVIRONMENT_SECRETS.items()},
    )
