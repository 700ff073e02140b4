"""Builds what judging needs, from the settings alone; part of the composition root.

Imports neither agents nor forges nor model libraries, whose import takes longer than a hook may take.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.composition.evaluators import build_evaluator_config, build_registry, project_rules
from app.composition.interpreters import build_interpreters
from app.composition.providers import evaluator_models, provider_keys
from app.composition.sandbox import build_sandbox
from app.core.config import Settings
from app.runners.evaluators.project.project_file import ProjectFileError
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.testing.gate import PytestEvaluator
from app.runners.project import ProjectPanel, ProjectRules, panel_for
from app.schemas.runs import Budget, HeldOutFeedback, RunPolicy
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.interpreters import Interpreters
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.history.git import Git
from app.workspaces.sources.inspection import SourcePolicy

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from app.gateway.recorded_model import BuildModel
    from app.runners.evaluators.held_out.held_out_gate import HeldOutEvaluator


@dataclass(frozen=True, slots=True)
class JudgingTools:
    """The parts that judge files; they need no database, agent or forge."""

    git: Git
    sources: SourcePolicy
    limits: WorkspaceLimits
    policy: RunPolicy
    registry: EvaluatorRegistry
    interpreters: Interpreters
    sandbox: Sandbox
    rules: ProjectRules

    def held_out(self, files: Mapping[str, str], told: HeldOutFeedback) -> "HeldOutEvaluator":
        """Build the gate of held-out tests, which runs them with the settings of the operator's test gate."""
        from app.runners.evaluators.held_out.held_out_gate import HeldOutEvaluator  # noqa: PLC0415 - only to run tests

        gates = [each.evaluator for each in self.registry.all_registrations()]
        tests = next((each for each in gates if isinstance(each, PytestEvaluator)), PytestEvaluator())
        return HeldOutEvaluator(files=files, told=told, tests=tests)


def build_judging_tools(
    settings: Settings, build: "BuildModel | None" = None, *, one_shot: bool = False
) -> JudgingTools:
    """Build the parts that judge files.

    Args:
        settings: the operator's settings.
        build: makes models by name; None builds a maker that records no requests.
        one_shot: whether the process ends after one evaluation.
    """
    models = _models(settings, build)
    sandbox = build_sandbox(settings)
    interpreters = build_interpreters(settings, sandbox)
    evaluators = build_evaluator_config(settings, models, sandbox, interpreters)
    return JudgingTools(
        git=Git.find(os.environ),  # noqa: TID251 - proxies and certificates, for downloads
        sources=SourcePolicy(
            allowed_roots=tuple(settings.WORKSPACE_ROOTS),
            allow_file_urls=settings.WORKSPACE_ALLOW_FILE_URLS,
            allow_private_urls=settings.WORKSPACE_ALLOW_PRIVATE_URLS,
        ),
        limits=WorkspaceLimits(settings.WORKSPACE_MAX_FILES, settings.WORKSPACE_MAX_BYTES),
        policy=_policy(settings),
        registry=build_registry(settings, replace(evaluators, one_shot=one_shot)),
        interpreters=interpreters,
        sandbox=sandbox,
        rules=project_rules(settings, sandbox, interpreters),
    )


def project_panel(settings: Settings, content: bytes | ProjectFileError | None) -> ProjectPanel:
    """Return what a project file makes of this service's evaluators."""
    tools = build_judging_tools(settings)
    return panel_for(tools.registry, content, replace(tools.rules, honour=True))


def _models(settings: Settings, build: "BuildModel | None") -> "list[Model]":
    keys = provider_keys(settings)
    names = evaluator_models(settings, keys)
    if not names:
        return []
    if build is None:
        from app.composition.models import model_builder  # noqa: PLC0415 - slow to import; only with a model

        build = model_builder(settings, keys)
    return [build(each) for each in names]


def _policy(settings: Settings) -> RunPolicy:
    return RunPolicy(
        attempts_per_phase=settings.MAX_ATTEMPTS,
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
