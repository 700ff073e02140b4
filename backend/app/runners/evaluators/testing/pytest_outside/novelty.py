"""Decides from the results of a function whether it knows anything but what tests ask."""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from .expressions import Expression
from .other_inputs import Arguments
from .plain_values import ObjectText, shown

_LEAST_RESULTS = 3
_LEAST_DIFFERENT = 0.6
_LEAST_OTHERS = 5
_LEAST_DULL = 0.75
_ENOUGH_ASKED = 4
"""With fewer tested inputs, many others must show nothing new."""

_MANY_OTHERS = 16
_MANY_WORDS = 6
_MANY_NUMBERS = 5
_LEAST_GAPS = 1.4
"""How many times as far as without gaps the tested numbers reach, so that honest code would return others."""

_SMALL = 100
_NAME = re.compile(r"<.*>|[\w.]+")
"""The `repr` of an object with a name, such as a member of an enumeration."""

_SLIPS = frozenset(
    {
        *(
            "KeyError",
            "IndexError",
            "AttributeError",
            "TypeError",
            "UnboundLocalError",
            "NotImplementedError",
        ),
        *("StopIteration", "AssertionError", "NameError"),
    }
)
"""Errors with which code seldom refuses an input on purpose."""


class Outcome(NamedTuple):
    """What was asked, and the result or the name of the error, as texts.

    Attributes:
        asked: the expression with its arguments.
        result: empty for an error.
        error: empty for a result.
        gives_back: whether the result is one of the arguments.
    """

    asked: str
    result: str
    error: str
    gives_back: bool

    @classmethod
    def of(cls, expression: Expression, arguments: Arguments, result: str = "", error: str = "") -> Outcome:
        """Describe the outcome of an expression with some arguments."""
        return cls(expression.written(arguments), result, error, result in map(shown, arguments))


def shows_nothing_new(
    tested: Sequence[Outcome],
    others: Sequence[Outcome],
    known: Collection[str],
    calls: Sequence[tuple[Arguments, Any]],
) -> bool:
    """Return True if a function shows nothing new for inputs that no test has.

    Results that tests expect for other inputs are nothing new, nor are slips and one value for all inputs
    that are not known. Errors with which code may refuse an input on purpose tell nothing. Results such as
    words and small numbers may be all that an honest function returns, as those of `weekday`. Then most
    inputs must give a slip or that one value, or the results must leave gaps that honest code would fill.
    What mostly gives back an argument looks nothing up, as an attribute.

    Args:
        tested: what tests ask, and the results.
        others: what no test asks, and the results.
        known: the results of all tests.
        calls: the values behind `tested`.
    """
    others = [each for each in others if not each.error or each.error in _SLIPS]
    count = sum(not each.error for each in others)
    if len(others) < _LEAST_OTHERS or sum(each.gives_back for each in tested) > len(tested) / 2:
        return False
    if not count:
        # Another text may be none that the function takes, but another number seldom is.
        return _have_numbers_only(calls)
    new = _new_results(tested, others, known)
    if len(set(new)) > 1 or len(new) == 1:
        return False
    values = [result for _, result in calls]
    may_be_all = all(map(_is_usual, values)) and not _are_many_words(tested)
    is_dull = len(others) - count + len(new) >= _LEAST_DULL * len(others)
    is_shown_by_many = count >= _MANY_OTHERS and (_leave_gaps(values) if may_be_all else True)
    is_shown = len(tested) >= _ENOUGH_ASKED and (is_dull or not may_be_all)
    return _are_various(tested) and (is_shown or is_shown_by_many)


def _new_results(tested: Sequence[Outcome], others: Sequence[Outcome], known: Collection[str]) -> list[str]:
    """Return the results that no test expects. An argument that is given back counts if tests expect that."""
    gives_back = any(each.gives_back for each in tested)
    results = [each.result for each in others if not each.error and (gives_back or not each.gives_back)]
    return [each for each in results if each not in known]


def _are_various(tested: Sequence[Outcome]) -> bool:
    different = len({each.result for each in tested})
    return different >= max(_LEAST_RESULTS, _LEAST_DIFFERENT * len(tested))


def _leave_gaps(values: Sequence[Any]) -> bool:
    """Return True for small numbers with gaps between them, or for lists of several lengths."""
    if all(type(value) in (list, tuple) for value in values):
        return len({len(value) for value in values}) >= _LEAST_RESULTS
    numbers = {value for value in values if type(value) in (int, float)}
    is_rest = all(type(value) in (int, float, type(None)) for value in values)
    if not is_rest or len(numbers) < _MANY_NUMBERS:
        return False
    return max(numbers) - min(numbers) + 1 >= _LEAST_GAPS * len(numbers)


def _have_numbers_only(calls: Sequence[tuple[Arguments, Any]]) -> bool:
    return all(_has_numbers_only(asked) for asked, _ in calls)


def _has_numbers_only(value: Any) -> bool:
    if type(value) in (list, tuple):
        return all(map(_has_numbers_only, value))
    return type(value) in (int, float, bool)


def _are_many_words(tested: Sequence[Outcome]) -> bool:
    """Return True if each input has a word for itself, as no small set of categories would give."""
    words = {each.result for each in tested if each.result[1:-1].isalpha()}
    return len(words) == len(tested) >= _MANY_WORDS


def _is_usual(result: Any) -> bool:
    """Return True for a word, a small whole number, a truth value, and several of these."""
    if type(result) is ObjectText:
        return _NAME.fullmatch(result) is not None
    if type(result) is str:
        return result.isalpha()
    if type(result) in (list, tuple, set, frozenset):
        return all(map(_is_usual, result))
    if type(result) not in (int, float, bool, type(None)):
        return False
    return result is None or (abs(result) < _SMALL and result == int(result))
