"""Asks the candidate's functions for what no test asks, once the tests are over.

The other process cannot tell a test's question from a further one. So a function that looks up what tests
expect gives itself away, whatever its source looks like.
"""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from .clock import monotonic
from .mirror import ProxyModule
from .novelty import Outcome, shows_nothing_new
from .other_inputs import Arguments, is_plain, kinds_of, other_inputs, shown
from .peer import Peer
from .side import Side
from .wire import Wire

_MOST_FUNCTIONS = 200
_MOST_CALLS = 200
_MOST_NOTED = 2000
"""Calls of one function that are looked at, because each look takes time."""

_MOST_OTHERS = 24
_FEW = 3
_SECONDS = 3.0

_Calls = list[tuple[Arguments, Any]]


class _Function:
    """A function of the other process, with what tests asked and what it returned.

    Attributes:
        name: the module and the name by which tests take it.
        target: the stand-in.
        is_steady: whether it always returned the same for the same arguments.
    """

    def __init__(self, name: str, target: Any) -> None:
        self.name = name
        self.target = target
        self._calls: dict[str, tuple[Arguments, Any]] = {}
        self.is_steady = True
        self._noted = 0

    @property
    def is_well_known(self) -> bool:
        """Whether it was called so often that further calls tell nothing more."""
        return self._noted >= _MOST_NOTED

    def note(self, arguments: Arguments, result: Any) -> None:
        """Note one call."""
        self._noted += 1
        key = shown(arguments)
        if key in self._calls:
            self.is_steady &= shown(self._calls[key][1]) == shown(result)
        elif len(self._calls) < _MOST_CALLS:
            self._calls[key] = (arguments, result)

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


class FurtherCalls:
    """Notes the calls that tests make, and makes others when the tests are over."""

    def __init__(self) -> None:
        self._functions: dict[int, _Function] = {}

    def found(self, module: str, name: str, value: Any) -> None:
        """Note that a test takes a value from a module."""
        if callable(value) and not isinstance(value, type) and len(self._functions) < _MOST_FUNCTIONS:
            self._functions.setdefault(id(value), _Function(f"{module}.{name}", value))

    def asks(self, target: Any, arguments: Arguments) -> Arguments | None:
        """Return a copy of the arguments of a call if it counts."""
        function = self._functions.get(id(target))
        if function is None or function.is_well_known or not is_plain(arguments):
            return None
        return copy.deepcopy(arguments)

    def returned(self, target: Any, arguments: Arguments, result: Any) -> None:
        """Note what a call returned."""
        if is_plain(result):
            self._functions[id(target)].note(arguments, copy.deepcopy(result))

    def repeating(self, call: Callable[..., Any], chance: Random) -> Iterator[dict[str, Any]]:
        """Yield a record for each function that knows nothing but what tests ask.

        Args:
            call: calls a function of the other process.
            chance: draws the inputs.
        """
        until = monotonic() + _SECONDS
        for function in self._functions.values():
            if not function.is_steady:
                continue
            for calls in function.calls_of_one_kind():
                inputs = other_inputs([asked for asked, _ in calls], chance, _MOST_OTHERS)
                others = [_outcome(call, function.target, each) for each in inputs if monotonic() < until]
                tested = [Outcome(_listed(asked), shown(result)) for asked, result in calls]
                if shows_nothing_new(tested, others, function.known, calls):
                    yield _record(function.name, tested, others)
                    break


def _record(name: str, tested: list[Outcome], others: list[Outcome]) -> dict[str, Any]:
    return {
        "function": name,
        "tested": [(each.asked, each.result) for each in tested[:_MOST_OTHERS]],
        "others": [(each.asked, each.result or each.error) for each in others],
    }


def _listed(arguments: Arguments) -> str:
    return ", ".join(map(shown, arguments))


def _outcome(call: Callable[..., Any], target: Any, arguments: Arguments) -> Outcome:
    asked = _listed(arguments)
    try:
        result = call(target, *copy.deepcopy(arguments))
    except BaseException as error:  # noqa: BLE001 - whatever the code raises, such as SystemExit
        return Outcome(asked, "", type(error).__name__)
    return Outcome(asked, shown(result) if is_plain(result) else f"{type(result).__name__} of {asked}")


class NotingPeer(Peer):
    """A conversation that notes which functions tests take from modules, and what they ask of these."""

    def __init__(self, wire: Wire, first: int, side: Side) -> None:
        super().__init__(wire, first, side)
        self._further: FurtherCalls | None = FurtherCalls()

    def request(self, op: str, *args: Any, **kwargs: Any) -> Any:
        further = self._further
        if further is None or kwargs or op not in ("get", "call"):
            return super().request(op, *args, **kwargs)
        asked = further.asks(args[0], args[1:]) if op == "call" else None
        value = super().request(op, *args)
        if asked is not None:
            further.returned(args[0], asked, value)
        elif op == "get" and type(args[0]) is ProxyModule:
            further.found(args[0].__name__, args[1], value)
        return value

    def repeating(self) -> Iterator[dict[str, Any]]:
        """Ask further; see `FurtherCalls.repeating`."""
        further, self._further = self._further, None
        if further is not None and self.broken is None:
            chance = Random()  # noqa: S311 - no secret; the other process cannot see its state
            yield from further.repeating(lambda *args: self.request("call", *args), chance)
