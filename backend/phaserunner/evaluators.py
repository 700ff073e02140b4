"""The names that authors of evaluators import: the protocol, results, categories and registration."""

from app.runners.evaluators.protocol import (
    BLOCKING_THRESHOLD,
    ConfigurableEvaluator,
    CriterionResult,
    EvaluationCategory,
    EvaluationContext,
    EvaluationLimits,
    EvaluationResult,
    EvaluationStatus,
    Evaluator,
    errored,
    skipped,
)
from app.runners.evaluators.registrations import Registration

__all__ = [
    "BLOCKING_THRESHOLD",
    "ConfigurableEvaluator",
    "CriterionResult",
    "EvaluationCategory",
    "EvaluationContext",
    "EvaluationLimits",
    "EvaluationResult",
    "EvaluationStatus",
    "Evaluator",
    "Registration",
    "errored",
    "skipped",
]
