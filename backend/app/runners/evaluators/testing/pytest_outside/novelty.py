"""Decides from the results of a function whether it knows anything but what tests ask."""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from .expressions import Expression
from .other_inputs import Arguments, shown

_LEAST_ASKED = 4
_LEAST_RESULTS = 3
_LEAST_DIFFERENT = 0.6
_LEAST_OTHERS = 5
_LEAST_DULL = 0.75
_MANY_WORDS = 6
_SMALL = 100
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
    inputs must give a slip or that one value. What mostly gives back an argument looks nothing up, as an
    attribute.

    Args:
        tested: what tests ask, and the results.
        others: what no test asks, and the results.
        known: the results of all tests.
        calls: the values behind `tested`.
    """
    others = [each for each in others if not each.error or each.error in _SLIPS]
    errors = [each.error for each in others if each.error]
    if len(others) < _LEAST_OTHERS or sum(each.gives_back for each in tested) > len(tested) / 2:
        return False
    if len(errors) == len(others):
        # Another text may be none that the function takes, but another number seldom is.
        return all(_has_numbers_only(asked) for asked, _ in calls)
    different = len({each.result for each in tested})
    if len(tested) < _LEAST_ASKED or different < max(_LEAST_RESULTS, _LEAST_DIFFERENT * len(tested)):
        return False
    new = _new_results(tested, others, known)
    if len(set(new)) > 1 or len(new) == 1:
        return False
    may_be_all = all(_is_usual(result) for _, result in calls) and not _are_many_words(tested)
    return not may_be_all or len(errors) + len(new) >= _LEAST_DULL * len(others)


def _new_results(tested: Sequence[Outcome], others: Sequence[Outcome], known: Collection[str]) -> list[str]:
    """Return the results that no test expects. An argument that is given back counts if tests expect that."""
    gives_back = any(each.gives_back for each in tested)
    results = [each.result for each in others if not each.error and (gives_back or not each.gives_back)]
    return [each for each in results if each not in known]


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
    if type(result) is str:
        return result.isalpha()
    if type(result) in (list, tuple, set, frozenset):
        return all(map(_is_usual, result))
    if type(result) not in (int, float, bool, type(None)):
        return False
    return result is None or (abs(result) < _SMALL and result == int(result))
