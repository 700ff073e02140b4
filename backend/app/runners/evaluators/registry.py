"""The default registry: builds the built-in evaluators and registers them for the phases of a sprint."""

from app.runners.evaluators.agent_claim import AgentClaimEvaluator
from app.runners.evaluators.deterministic import PytestEvaluator, RuffLintEvaluator, TypeCheckEvaluator
from app.runners.evaluators.evaluator_config import CODING, DISCOVERY, VERIFICATION, EvaluatorConfig
from app.runners.evaluators.plan_artifact import PlanArtifactEvaluator
from app.runners.evaluators.protection.protected_files import ProtectedFilesEvaluator
from app.runners.evaluators.registrations import (
    BUILT_IN,
    EvaluatorDescription,
    EvaluatorRegistry,
    Registration,
)
from app.workspaces.confine.sandbox import Sandbox

__all__ = [
    "BUILT_IN",
    "MODEL_EVALUATORS",
    "EvaluatorConfig",
    "EvaluatorDescription",
    "EvaluatorRegistry",
    "Registration",
    "create_default_registry",
]

MODEL_EVALUATORS = frozenset(
    {"llm_code_quality", "completeness", "security", "performance", "response_quality"}
)
"""Built-in evaluators that exist only if a model is set up."""


def create_default_registry(config: EvaluatorConfig | None = None) -> EvaluatorRegistry:
    """Return the built-in evaluators, registered for the phases of a sprint."""
    config = config or EvaluatorConfig()
    registry = EvaluatorRegistry()
    registry.register(RuffLintEvaluator(timeout=config.lint_timeout))
    registry.register(
        PytestEvaluator(
            timeout=config.test_timeout,
            python=config.python,
            interpreters=config.interpreters,
            extensions=config.extensions,
            compare_base=config.compare_base,
            sandbox=config.sandbox or Sandbox(),
            limits=config.limits,
            outside=config.outside,
            protected=config.protected,
            base_failures=config.base_failures,
            counter_tests=config.counter_tests,
            in_process_only=config.in_process_only,
            untested_code=config.untested_code,
            processes=config.test_processes,
        ),
        [CODING, VERIFICATION],
    )
    types = TypeCheckEvaluator(
        timeout=config.type_check_timeout,
        python=config.python,
        interpreters=config.interpreters,
        checker=config.type_checker,
        learns=not config.one_shot,
    )
    registry.register(types, [CODING])
    protected = ProtectedFilesEvaluator(policy=config.protected, tests_run=config.compare_base)
    registry.register(protected, [CODING, VERIFICATION])
    registry.register(PlanArtifactEvaluator(), [DISCOVERY])
    registry.register(AgentClaimEvaluator(), [VERIFICATION])
    if config.model is not None:
        # Evaluators that ask models need a library that takes a second to import, and many panels have none.
        from app.runners.evaluators.model_registry import register_models  # noqa: PLC0415 - only with a model

        register_models(registry, config, config.model)
    return registry
