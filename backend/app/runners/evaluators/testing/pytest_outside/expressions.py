"""The expressions by which tests reach a result: a call, and what tests read or call on an object from it."""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .other_inputs import Arguments
from .plain_values import shown
from .shapes import COMPARISONS

_MOST_STEPS = 6
_LOOKS = COMPARISONS | {
    *("__str__", "__repr__", "__format__", "__len__", "__bool__", "__hash__", "__contains__")
}


class Step(NamedTuple):
    """One request of an expression.

    Attributes:
        op: a call, an attribute ("get") or an operator ("dunder"), as the other process performs it.
        name: of the attribute or operator.
        arity: how many arguments it takes.
        keywords: the names of the last ones.
    """

    op: str
    name: str = ""
    arity: int = 0
    keywords: tuple[str, ...] = ()


class Expression(NamedTuple):
    """How a test reaches a value, without the arguments.

    Attributes:
        name: the module, and the name by which the test takes the function or class.
        target: its stand-in.
        steps: what follows.
    """

    name: str
    target: Any
    steps: tuple[Step, ...] = ()

    def then(self, step: Step) -> Expression | None:
        """Return a longer expression, or None if it would be too long."""
        return self._replace(steps=(*self.steps, step)) if len(self.steps) < _MOST_STEPS else None

    def begins_as(self, other: Expression) -> bool:
        """Return True if the other expression is this one, or the beginning of it."""
        return self.target is other.target and self.steps[: len(other.steps)] == other.steps

    def evaluate(self, request: Callable[..., Any], arguments: Arguments) -> Any:
        """Return the value for some arguments.

        Args:
            request: performs an operation in the other process.
            arguments: of all steps.
        """
        value = self.target
        for step, given, named in self._with(arguments):
            name = (step.name,) if step.name else ()
            value = request(step.op, value, *name, *given, **named)
        return value

    def written(self, arguments: Arguments) -> str:
        """Return the expression with its arguments, without the module."""
        text = self.name.rpartition(".")[2]
        for step, given, named in self._with(arguments):
            parts = [*map(shown, given), *(f"{name}={shown(each)}" for name, each in named.items())]
            text += f".{step.name}" if step.name else ""
            text += "" if step.op == "get" else f"({', '.join(parts)})"
        return text

    @property
    def full_name(self) -> str:
        """The name with those of its attributes and operators."""
        return ".".join((self.name, *(step.name for step in self.steps if step.name)))

    def _with(self, arguments: Arguments) -> Iterator[tuple[Step, Arguments, dict[str, Any]]]:
        """Yield each step with its positional arguments, and those with names."""
        for step in self.steps:
            mine, arguments = arguments[: step.arity], arguments[step.arity :]
            given = mine[: step.arity - len(step.keywords)]
            yield step, given, dict(zip(step.keywords, mine[len(given) :]))  # noqa: B905 - Python 3.9


def step_of(op: str, args: Arguments, keywords: dict[str, Any]) -> tuple[Step, Arguments] | None:
    """Return a request as a step with its arguments, or None for one that reaches no value.

    Args:
        op: the operation.
        args: what follows its subject.
        keywords: the arguments with names.
    """
    if op == "call":
        given = (*args, *keywords.values())
        return Step("call", "", len(given), tuple(keywords)), given
    if op == "get" or (op == "dunder" and args[0] not in COMPARISONS):
        return Step(op, args[0], len(args) - 1), args[1:]
    return None


def only_looks(op: str, args: Arguments) -> bool:
    """Return True if a request leaves its subject as it is, as far as anyone can tell."""
    return op in ("get", "dir", "isinstance", "issubclass") or (op == "dunder" and args[0] in _LOOKS)
