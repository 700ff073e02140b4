"""Asks the candidate's functions and classes for what no test asks, once the tests are over.

The other process cannot tell a test's question from a further one. So code that looks up what tests
expect gives itself away, whatever its source looks like.
"""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import copy
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from .clock import monotonic
from .equal_kinds import EqualKinds
from .expressions import Expression, Step, only_looks, step_of
from .mirror import ProxyModule
from .novelty import Outcome, shows_nothing_new
from .other_inputs import Arguments, kinds_of, other_inputs
from .pace import LATE, JudgePace
from .peer import Peer
from .plain_values import NOT_PLAIN, ObjectText, is_plain, plain_copy, shown
from .side import Side
from .wire import Wire

_MOST_FUNCTIONS = 400
_MOST_CALLS = 200
_MOST_NOTED = 2000
"""Calls of one function that are looked at, because each look takes time."""

_MOST_OBJECTS = 24
_MOST_TEXT = 400
_MOST_OTHERS = 24
_FEW = 3
_SECONDS = 3.0

_ADDRESS = " at 0x"
"""In the `repr` of an object that says nothing of its content."""

_Calls = list[tuple[Arguments, Any]]
_Key = tuple[int, "tuple[Step, ...]"]
"""The stand-in of a function or class, and the steps that follow."""


class _Function:
    """What tests ask in one form, with the results.

    Attributes:
        expression: the form.
        is_steady: whether it always returned the same for the same arguments.
    """

    def __init__(self, expression: Expression) -> None:
        self.expression = expression
        self._calls: dict[str, tuple[Arguments, Any]] = {}
        self._objects: dict[str, tuple[Arguments, Any]] = {}
        self.is_steady = True

    def note(self, arguments: Arguments, result: Any) -> None:
        """Note one call."""
        key = shown(arguments)
        if key in self._calls:
            self.is_steady &= shown(self._calls[key][1]) == shown(result)
        elif len(self._calls) < _MOST_CALLS:
            self._calls[key] = (arguments, result)

    def note_object(self, arguments: Arguments, result: Any) -> None:
        """Note a call whose result is the stand-in of an object."""
        if len(self._objects) < _MOST_OBJECTS:
            self._objects.setdefault(shown(arguments), (arguments, result))

    def read_objects(self, text_of: Callable[[Any], str | None]) -> None:
        """Take the texts of objects as results, if no call had a plain value.

        Args:
            text_of: returns None for an object that says nothing of itself.
        """
        if self._calls:
            return
        texts = {key: (given, text_of(each)) for key, (given, each) in self._objects.items()}
        self._calls = {
            key: (given, ObjectText(text)) for key, (given, text) in texts.items() if text is not None
        }

    @property
    def known(self) -> set[str]:
        """All results, as texts."""
        return {shown(result) for _, result in self._calls.values()}

    def calls_of_one_kind(self) -> Iterator[_Calls]:
        """Yield calls whose arguments have the same kinds, if they have several results."""
        groups: dict[Any, _Calls] = defaultdict(list)
        for each in self._calls.values():
            groups[kinds_of(each[0])].append(each)
        for calls in groups.values():
            if len(calls) >= _FEW and len({shown(result) for _, result in calls}) > 1:
                yield calls


class Reached(NamedTuple):
    """A value that a test has reached, or is about to.

    Attributes:
        expression: how.
        arguments: of all its steps.
        owner: the stand-in of the object whose attribute it is, by its id.
    """

    expression: Expression
    arguments: Arguments = ()
    owner: int | None = None


class FurtherCalls:
    """Notes what tests ask of functions and of new objects, and asks for more when the tests are over.

    An object counts until something may have changed it: a method, an operator, or a function that gets it.
    Until then, the calls that led to it say all about it.

    Args:
        is_theirs: returns True for a stand-in. These exist until the process ends.
    """

    def __init__(self, is_theirs: Callable[[object], bool]) -> None:
        self._is_theirs = is_theirs
        self._reached: dict[int, Reached] = {}
        self._functions: dict[_Key, _Function] = {}
        self._counts: Counter[_Key] = Counter()

    def found(self, module: str, name: str, value: Any) -> None:
        """Note that a test takes a value from a module."""
        if callable(value) and self._is_theirs(value):
            self._reached.setdefault(id(value), Reached(Expression(f"{module}.{name}", value)))

    def asks(self, op: str, subject: Any, args: Arguments, keywords: dict[str, Any]) -> Reached | None:
        """Note a request. Return what it reaches if that counts."""
        known = self._reached.get(id(subject))
        is_known = known is not None and (known.owner is None or known.owner in self._reached)
        if not only_looks(op, args):
            for each in (subject, *args, *keywords.values()):
                self._forget(id(each))
        step = step_of(op, args, keywords)
        if known is None or not is_known or step is None or not is_plain(step[1]):
            return None
        expression = known.expression.then(step[0])
        if expression is None or self._is_well_known(expression):
            return None
        owner = id(subject) if op == "get" else None
        return Reached(expression, (*known.arguments, *copy.deepcopy(step[1])), owner)

    def returned(self, reached: Reached, value: Any) -> None:
        """Note the value."""
        is_theirs = self._is_theirs(value)
        if is_theirs:
            self._reached.setdefault(id(value), reached)
        result = plain_copy(value)
        if result is NOT_PLAIN and not is_theirs:
            return
        function = self._function(reached.expression)
        if function is not None and result is not NOT_PLAIN:
            function.note(reached.arguments, result)
        elif function is not None and reached.expression.steps[-1].op != "get":
            function.note_object(reached.arguments, value)

    def repeating(self, request: Callable[..., Any], seed: str) -> Iterator[dict[str, Any]]:
        """Yield a record for each function that knows nothing but what tests ask.

        Args:
            request: performs an operation in the other process.
            seed: for the inputs. With the same one, the same calls of a function lead to the same inputs.
        """
        until = monotonic() + _SECONDS
        found: list[Expression] = []
        # What is read from an object says more than its text.
        for function in sorted(self._functions.values(), key=lambda each: not each.known):
            if not function.is_steady or any(each.begins_as(function.expression) for each in found):
                continue
            function.read_objects(
                lambda value: self._text_of(request, value) if monotonic() < until else None
            )
            chance = Random(f"{seed} {function.expression.full_name}")  # noqa: S311 - repeatable; the seed is secret
            for calls in function.calls_of_one_kind():
                inputs = other_inputs([asked for asked, _ in calls], chance, _MOST_OTHERS)
                others = [
                    _outcome(request, function.expression, each) for each in inputs if monotonic() < until
                ]
                tested = [Outcome.of(function.expression, asked, shown(result)) for asked, result in calls]
                if shows_nothing_new(tested, others, function.known, calls):
                    found.append(function.expression)
                    yield _record(function.expression.full_name, tested, others)
                    break

    def _text_of(self, request: Callable[..., Any], value: Any) -> str | None:
        """Return what an object says of itself, if nothing may have changed it and it says anything."""
        return _said(request, value) if id(value) in self._reached else None

    def _forget(self, key: int) -> None:
        """Forget an object, and the one whose method it is. Functions and classes stay."""
        known = self._reached.get(key)
        while known is not None and known.expression.steps:
            del self._reached[key]
            if known.owner is None:
                return
            key, known = known.owner, self._reached.get(known.owner)

    def _is_well_known(self, expression: Expression) -> bool:
        """Count an expression. Return True if more of its kind tell nothing."""
        key = _key(expression)
        self._counts[key] += 1
        return self._counts[key] > _MOST_NOTED

    def _function(self, expression: Expression) -> _Function | None:
        key = _key(expression)
        if key not in self._functions and len(self._functions) < _MOST_FUNCTIONS:
            self._functions[key] = _Function(expression)
        return self._functions.get(key)


def _key(expression: Expression) -> _Key:
    return id(expression.target), expression.steps


def _record(name: str, tested: list[Outcome], others: list[Outcome]) -> dict[str, Any]:
    return {
        "function": name,
        "tested": [(each.asked, each.result) for each in tested[:_MOST_OTHERS]],
        "others": [(each.asked, each.result or each.error) for each in others],
    }


def _outcome(request: Callable[..., Any], expression: Expression, arguments: Arguments) -> Outcome:
    try:
        result = expression.evaluate(request, copy.deepcopy(arguments))
    except BaseException as error:  # noqa: BLE001 - whatever the code raises, such as SystemExit
        return Outcome.of(expression, arguments, error=type(error).__name__)
    plain = plain_copy(result)
    said = _said(request, result) if plain is NOT_PLAIN else shown(plain)
    return Outcome.of(expression, arguments, said or f"{type(result).__name__} of {shown(arguments)}")


def _said(request: Callable[..., Any], value: Any) -> str | None:
    """Return the `repr` of an object of the other process; None if its class defines none."""
    try:
        text = request("dunder", value, "__repr__")
    except BaseException:  # noqa: BLE001 - whatever the code raises
        return None
    return text if type(text) is str and _ADDRESS not in text and len(text) <= _MOST_TEXT else None


class NotingPeer(Peer):
    """A conversation that notes what tests ask of functions and objects.

    It ends with a test that asks on and on, long after the run was to end.
    """

    def __init__(self, wire: Wire, first: int, side: Side, pace: JudgePace) -> None:
        super().__init__(wire, first, side)
        self._pace = pace
        self._further: FurtherCalls | None = FurtherCalls(self.is_theirs)
        self.equal_kinds = EqualKinds()

    def request(self, op: str, *args: Any, **kwargs: Any) -> Any:
        if self._pace.is_late():
            self.broken = self.broken or LATE
        further = self._further
        if further is None or not args:
            return super().request(op, *args, **kwargs)
        reached = further.asks(op, args[0], args[1:], kwargs)
        value = super().request(op, *args, **kwargs)
        if op == "dunder":
            self.equal_kinds.note(args, value)
        if reached is not None:
            further.returned(reached, value)
        elif op == "get" and type(args[0]) is ProxyModule:
            further.found(args[0].__name__, args[1], value)
        return value

    def repeating(self, seed: str) -> Iterator[dict[str, Any]]:
        """Ask further; see `FurtherCalls.repeating`."""
        further, self._further = self._further, None
        if further is not None and self.broken is None:
            yield from further.repeating(self.request, seed)
