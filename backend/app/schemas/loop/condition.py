"""The condition on which a loop ends: an expression in CEL with the documented spelling.

Expressions are checked when they are read.

`===` and `!==` are accepted for `==` and `!=`; nothing else differs from CEL. An expression uses only the
values of four names; it calls none of our code and cannot loop.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import cel

NAMES = frozenset({"evaluation", "iteration", "director", "script"})
"""The names that an expression may use."""

MAX_CHARS = 1000

_OPERATORS = frozenset(
    {
        *("_&&_", "_||_", "!_", "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "_?_:_", "@in", "_in_", "_[_]"),
        *("_+_", "_-_", "_*_", "_/_", "_%_", "-_"),
    }
)
_FUNCTIONS = frozenset({"size", "has", "contains", "startsWith", "endsWith", "matches", "int", "double"})
# A string of CEL, or one of the two operators with a different spelling.
_SPELLING = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|([=!]==)""", re.DOTALL)
# This also matches inside strings: only the library knows where strings end, and a loop costs
# more than a false refusal.
_LOOPS = re.compile(r"\b(all|exists\w*|map|filter|transform\w*)\s*\(")
_MISSING = (KeyError, IndexError)
_TROUBLE = (ValueError, TypeError, ArithmeticError, RuntimeError)
_SAMPLE: Mapping[str, Any] = {
    "evaluation": {"success": True, "feedback": "", "details": {}, "scriptOutput": None},
    "iteration": 1,
    "director": {"content": "", "status": "COMPLETE", "notes": {}},
    "script": {"stdout": "", "stderr": "", "exitCode": 0},
}


@dataclass(frozen=True, slots=True)
class ConditionOutcome:
    """Whether a condition is met. `trouble` says why it could not be evaluated; it then counts as not met."""

    met: bool
    trouble: str = ""


def check_condition(expression: str) -> str:
    """Return the expression if it can be evaluated.

    Raises:
        ValueError: it is too long, has a syntax error, uses an unknown name or function, or is not a boolean.
    """
    if not expression.strip():
        raise ValueError("the condition is empty")
    if len(expression) > MAX_CHARS:
        raise ValueError(f"the condition has more than {MAX_CHARS} characters")
    loop = _LOOPS.search(expression)
    if loop:
        raise ValueError(f"the condition uses {loop[1]}(): it may not go through lists")
    program = _compile(expression)
    unknown = sorted(set(program.variables()) - NAMES)
    if unknown:
        raise ValueError(f"the condition names {', '.join(unknown)}; it may name {', '.join(sorted(NAMES))}")
    calls = sorted(set(program.functions()) - _OPERATORS - _FUNCTIONS)
    if calls:
        raise ValueError(f"the condition uses {', '.join(calls)}; it may use {', '.join(sorted(_FUNCTIONS))}")
    _check_type(program)
    return expression


def ask(expression: str, values: Mapping[str, Any]) -> ConditionOutcome:
    """Evaluate a condition; one that reads a missing value, or compares different types, is not met.

    Args:
        expression: an expression that `check_condition` accepted.
        values: the values of all names, as JSON values.
    """
    try:
        value = _compile(expression).execute(dict(values))
    except _MISSING as error:
        return ConditionOutcome(met=False, trouble=f"there is no {error.args[0]}")
    except _TROUBLE as error:
        return ConditionOutcome(met=False, trouble=str(error)[:500])
    if not isinstance(value, bool):
        return ConditionOutcome(met=False, trouble=f"it gives {type(value).__name__}, not true or false")
    return ConditionOutcome(met=value)


def _compile(expression: str) -> "cel.Program":
    # The package imports a prompt for terminals, which takes longer than all the rest of the command line.
    import cel  # noqa: PLC0415 - slow to import; most programs need no condition

    try:
        return cel.compile(_SPELLING.sub(lambda found: found[1] or found[2][:2], expression))
    except ValueError as error:
        raise ValueError(f"the condition cannot be read: {_first_fault(str(error))}") from error


def _first_fault(text: str) -> str:
    """Return the parser's first error, without the expression that it repeats."""
    found = re.search(r"ERROR: (<input>:\d+:\d+: [^\n]{0,200})", text)
    return found[1].replace("<input>:", "") if found else text[:200]


def _check_type(program: "cel.Program") -> None:
    """Refuse an expression that does not yield a boolean, as far as this is known before the loop runs.

    The fields of details and notes are known only later.
    """
    try:
        value = program.execute(dict(_SAMPLE))
    except (*_MISSING, *_TROUBLE):
        return
    if not isinstance(value, bool):
        # A ValueError, like every other error in a definition.
        raise ValueError(f"the condition gives {type(value).__name__}, not true or false")  # noqa: TRY004
