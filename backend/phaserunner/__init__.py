"""The public face of PhaseRunner: the names for authors of evaluators, of clients and of programs.

`phaserunner.evaluators` holds what an evaluator needs, `phaserunner.client` follows the runs of a service,
and `phaserunner.engine` runs the loop without a service. This module offers the names of all three. It
imports them on first use, because the command line starts here.

Everything in `__all__` follows semantic versioning. Other modules, such as `_app`, are private.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaserunner.client import (
        Cursor,
        ForbiddenError,
        InvalidInputError,
        NotFoundError,
        PhaseRunnerError,
        Reconnect,
        Reset,
        UnauthorizedError,
        UnavailableError,
        WireEvent,
        follow,
    )
    from phaserunner.engine import (
        AnswerOutcome,
        AnswerStatus,
        DirectorEvaluator,
        DirectorEvaluatorLoop,
        EscalationReason,
        EvaluatorRegistry,
        EvidenceSource,
        FeedbackMemory,
        LoopLimits,
        LoopResult,
        LoopRole,
        Phase,
        PhaseOutcome,
        PhaseRunner,
        PytestEvaluator,
        ResponseEvaluator,
        ResponseRetry,
        RoleTask,
        RuffLintEvaluator,
        RunPolicy,
        Synthesizer,
        TaskResult,
        TypeCheckEvaluator,
    )
    from phaserunner.evaluators import (
        BLOCKING_THRESHOLD,
        ConfigurableEvaluator,
        CriterionResult,
        EvaluationCategory,
        EvaluationContext,
        EvaluationLimits,
        EvaluationResult,
        EvaluationStatus,
        Evaluator,
        Registration,
        errored,
        skipped,
    )

    __version__: str

__all__ = [
    "BLOCKING_THRESHOLD",
    "AnswerOutcome",
    "AnswerStatus",
    "ConfigurableEvaluator",
    "CriterionResult",
    "Cursor",
    "DirectorEvaluator",
    "DirectorEvaluatorLoop",
    "EscalationReason",
    "EvaluationCategory",
    "EvaluationContext",
    "EvaluationLimits",
    "EvaluationResult",
    "EvaluationStatus",
    "Evaluator",
    "EvaluatorRegistry",
    "EvidenceSource",
    "FeedbackMemory",
    "ForbiddenError",
    "InvalidInputError",
    "LoopLimits",
    "LoopResult",
    "LoopRole",
    "NotFoundError",
    "Phase",
    "PhaseOutcome",
    "PhaseRunner",
    "PhaseRunnerError",
    "PytestEvaluator",
    "Reconnect",
    "Registration",
    "Reset",
    "ResponseEvaluator",
    "ResponseRetry",
    "RoleTask",
    "RuffLintEvaluator",
    "RunPolicy",
    "Synthesizer",
    "TaskResult",
    "TypeCheckEvaluator",
    "UnauthorizedError",
    "UnavailableError",
    "WireEvent",
    "__version__",
    "errored",
    "follow",
    "skipped",
]

_MODULES = ("client", "evaluators", "engine")
"""In this order they are searched: the last one imports most."""


def __getattr__(name: str) -> object:
    """Import a public name on its first use.

    Raises:
        AttributeError: the package has no such name.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        value: object = import_module("importlib.metadata").version(__name__)
    else:
        modules = (import_module(f"{__name__}.{each}") for each in _MODULES)
        value = next(getattr(module, name) for module in modules if name in module.__all__)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, for completion in a shell."""
    return sorted(__all__)
