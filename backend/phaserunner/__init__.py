"""The public face of PhaseRunner: the names that authors of evaluators and clients import.

`phaserunner.evaluators` holds what an evaluator needs; `phaserunner.client` follows the runs of a service.
This module offers the names of both and imports them on first use, because the command line starts here.

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
    "ConfigurableEvaluator",
    "CriterionResult",
    "Cursor",
    "EvaluationCategory",
    "EvaluationContext",
    "EvaluationLimits",
    "EvaluationResult",
    "EvaluationStatus",
    "Evaluator",
    "ForbiddenError",
    "InvalidInputError",
    "NotFoundError",
    "PhaseRunnerError",
    "Reconnect",
    "Registration",
    "Reset",
    "UnauthorizedError",
    "UnavailableError",
    "WireEvent",
    "__version__",
    "errored",
    "follow",
    "skipped",
]

_OF_CLIENTS = frozenset(
    {
        "Cursor",
        "ForbiddenError",
        "InvalidInputError",
        "NotFoundError",
        "PhaseRunnerError",
        "Reconnect",
        "Reset",
        "UnauthorizedError",
        "UnavailableError",
        "WireEvent",
        "follow",
    }
)


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
        module = "client" if name in _OF_CLIENTS else "evaluators"
        value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, for completion in a shell."""
    return sorted(__all__)
