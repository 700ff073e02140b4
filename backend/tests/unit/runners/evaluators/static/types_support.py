"""The type gate, with checks that share what mypy has read of the standard library.

Without that, most of the time of a check of a few lines goes into the types of the built-in classes.
"""

from typing import Any

from app.runners.evaluators.deterministic import TypeCheckEvaluator
from app.runners.evaluators.protocol import EvaluationContext, EvaluationResult
from app.runners.evaluators.static.checker_memory import CheckerMemory
from app.runners.evaluators.static.library_memory import LibraryMemory
from tests.patience import PATIENCE

_LIBRARIES = LibraryMemory(CheckerMemory(), seed="import typing\n")


async def check_types(made: EvaluationContext, **options: Any) -> EvaluationResult:
    """Judge with a type gate that nothing hurries, unless an option says so."""
    gate = TypeCheckEvaluator(**{"timeout": PATIENCE, "libraries": _LIBRARIES, **options})
    result = await gate.evaluate("coding", "", made)
    await _LIBRARIES.learnt()
    return result
