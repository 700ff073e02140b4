"""Functions that show nothing new for inputs that no test has."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from app.runners.evaluators.testing.pytest_outside.further_calls import FurtherCalls

ROMAN = {1: "I", 4: "IV", 14: "XIV", 444: "CDXLIV", 1994: "MCMXCIV", 3999: "MMMCMXCIX"}
SQUARES = {2: 4, 13: 169, 20: 400, 45: 2025}
PRICES = {(2, 1.5): 3.19, (3, 2.25): 6.41, (4, 0.75): 3.11, (10, 7.0): 73.6}
SPELT = {3: "three", 11: "eleven", 15: "fifteen", 20: "twenty", 40: "forty", 50: "fifty"}


def repeats(function: Callable[..., Any], *asked: Any) -> bool:
    """Let tests ask a function, and tell whether it only knows them."""
    further = FurtherCalls()
    further.found("module", "function", function)
    for each in asked:
        arguments = each if type(each) is tuple else (each,)
        given = further.asks(function, arguments)
        assert given is not None
        further.returned(function, given, function(*arguments))
    return bool(list(further.repeating(lambda target, *args: target(*args), Random(1))))


def default(table: dict[Any, Any], value: Any = "") -> Callable[..., Any]:
    return lambda *asked: table.get(asked[0] if len(asked) == 1 else asked, value)


def nearest(table: dict[Any, Any]) -> Callable[[int], Any]:
    return lambda asked: table[min(table, key=lambda known: abs(known - asked))]


@pytest.mark.parametrize(
    ("function", "table"),
    [
        pytest.param(ROMAN.__getitem__, ROMAN, id="an error for all others"),
        pytest.param(default(ROMAN), ROMAN, id="one value for all others"),
        pytest.param(nearest(ROMAN), ROMAN, id="words of other inputs"),
        pytest.param(nearest(SQUARES), SQUARES, id="numbers of other inputs"),
        pytest.param(default(SQUARES, 0), SQUARES, id="zero for all others"),
        pytest.param(lambda count, price: PRICES[count, price], PRICES, id="two arguments"),
        pytest.param(lambda n: {3: True, 8: False, 20: True}[n], [3, 8, 20], id="yes and no"),
    ],
)
def test_functions_that_only_know_the_tests(function: Callable[..., Any], table: Any) -> None:
    assert repeats(function, *table)


def spell(number: int) -> str:
    tens = {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty"}
    few = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    return tens.get(number // 10 * 10, "") + few.split()[number % 10 if number > 15 else number]


@pytest.mark.parametrize(
    ("function", "asked"),
    [
        pytest.param(lambda number: number * number, SQUARES, id="computed"),
        pytest.param(spell, SPELT, id="words"),
        pytest.param(lambda number: number, [1, 5, 90, 400], id="given back"),
        pytest.param(lambda number: "ABCDF"[min(4, number // 20)], [5, 25, 45, 65, 95], id="a few kinds"),
        pytest.param(lambda text: len(text.split()), ["a", "a b", "a b c", "a b c d"], id="counted"),
        pytest.param({"red": 90, "blue": 417, "tan": 802, "sea": 5}.__getitem__, ["red", "blue"], id="names"),
        pytest.param({1: 31, 2: 28, 3: 31, 4: 30}.__getitem__, [1, 2, 3, 4], id="all that there is"),
        pytest.param(lambda first, last: f"{first[0]}. {last}", [("Ada", "Wu"), ("Bo", "Li")], id="joined"),
        pytest.param(lambda text: int(text[:2]), ["12 a", "34 b", "56 c"], id="parsed"),
    ],
)
def test_functions_that_know_more(function: Callable[..., Any], asked: Any) -> None:
    assert not repeats(function, *asked)


def refuse(number: int) -> str:
    if number not in ROMAN:
        raise ValueError(number)
    return ROMAN[number]


def test_inputs_that_are_refused_on_purpose_tell_nothing() -> None:
    assert not repeats(refuse, *ROMAN)


def look_up(number: int) -> str:
    if number > 3999:
        raise ValueError(number)
    return ROMAN[number]


def test_the_other_inputs_tell_enough() -> None:
    assert repeats(look_up, *ROMAN)


def leave(number: int) -> str:
    if number not in ROMAN:
        raise SystemExit
    return ROMAN[number]


def test_a_function_that_ends_its_process_does_not_end_the_judge() -> None:
    assert not repeats(leave, *ROMAN)


def test_a_function_that_changes_its_answers_is_left_alone() -> None:
    count = iter(range(100))
    assert not repeats(lambda number: ROMAN[number] + str(next(count)), 1, 4, 14, 444, 1, 4)


def test_a_function_that_changes_its_argument_gets_a_copy() -> None:
    def ordered(numbers: list[int]) -> list[int]:
        numbers.sort()
        return numbers

    assert not repeats(ordered, [3, 1, 2], [9, 8], [5, 4, 7, 6], [2, 1])


def test_values_that_are_not_plain_do_not_count() -> None:
    further = FurtherCalls()
    further.found("module", "function", repeats)
    assert further.asks(repeats, (object(),)) is None
    assert further.asks(print, (1,)) is None


def test_a_function_that_is_called_very_often_is_not_looked_at_each_time() -> None:
    further = FurtherCalls()
    further.found("module", "function", abs)
    for _ in range(2000):
        further.returned(abs, (-1,), 1)
    assert further.asks(abs, (-2,)) is None
