"""Functions that show nothing new for inputs that no test has."""

from calendar import monthrange
from collections.abc import Callable
from datetime import date
from enum import Enum
from typing import Any, NamedTuple

import pytest

from app.runners.evaluators.testing.pytest_outside.further_calls import FurtherCalls

ROMAN = {1: "I", 4: "IV", 14: "XIV", 444: "CDXLIV", 1994: "MCMXCIV", 3999: "MMMCMXCIX"}
SQUARES = {2: 4, 13: 169, 20: 400, 45: 2025}
PRICES = {(2, 1.5): 3.19, (3, 2.25): 6.41, (4, 0.75): 3.11, (10, 7.0): 73.6}
SHORT = {3: 0, 10: 9, 25: 20, 40: 36, 60: 52, 90: 77}
UP_TO = {number: list(range(1, number)) for number in (1, 20, 44, 90)}
HALVES = {2: "1 of 2", 30: "15 of 30", 90: "45 of 90"}
SPELT = {3: "three", 11: "eleven", 15: "fifteen", 20: "twenty", 40: "forty", 50: "fifty"}


def perform(op: str, subject: Any, *args: Any, **keywords: Any) -> Any:
    """Do what the other process does with a request."""
    if op == "call":
        return subject(*args, **keywords)
    return getattr(subject, args[0]) if op == "get" else getattr(type(subject), args[0])(subject, *args[1:])


class Asking:
    """Tests that ask, and the notes of what they ask."""

    def __init__(self, subject: Any) -> None:
        self.kept: list[Any] = [subject]
        self.further = FurtherCalls(lambda value: any(value is each for each in self.kept))
        self.further.found("module", "function", subject)

    def ask(self, op: str, subject: Any, *args: Any, **keywords: Any) -> Any:
        reached = self.further.asks(op, subject, args, keywords)
        value = perform(op, subject, *args, **keywords)
        if not isinstance(value, (int, float, str, list, tuple, type(None))):
            self.kept.append(value)
        if reached is not None:
            self.further.returned(reached, value)
        return value

    def repeating(self, seed: str = "seed") -> list[dict[str, Any]]:
        return list(self.further.repeating(perform, seed))


def repeats(function: Callable[..., Any], *asked: Any) -> bool:
    """Let tests ask a function, and tell whether it only knows them."""
    asking = Asking(function)
    for each in asked:
        asking.ask("call", function, *(each if type(each) is tuple else (each,)))
    return bool(asking.repeating())


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
        pytest.param(nearest(SHORT), SHORT, id="small numbers with gaps"),
        pytest.param(nearest(UP_TO), UP_TO, id="lists of several lengths"),
        pytest.param(nearest(HALVES), HALVES, id="three inputs"),
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


def weekdays(month: int, day: int) -> tuple[int, ...]:
    first = (day - date(2000, month, 1).weekday()) % 7 + 1
    return tuple(range(first, monthrange(2000, month)[1] + 1, 7))


@pytest.mark.parametrize(
    ("function", "asked"),
    [
        pytest.param(lambda number: number * number, SQUARES, id="computed"),
        pytest.param(lambda number: number in (7, 33, 91), [2, 7, 12, 33, 40, 91], id="yes for a few"),
        pytest.param(lambda text: "@" in text, ["a@b.c", "a b", "c@d.e", "d f"], id="yes for texts"),
        pytest.param(lambda number: number * 7 // 8, SHORT, id="small numbers"),
        pytest.param(nearest({3: 28, 40: 29, 60: 30, 90: 31, 99: 27}), [3, 40, 60, 90, 99], id="no gaps"),
        pytest.param(lambda number: list(range(1, number)), UP_TO, id="lists"),
        pytest.param(lambda number: f"{number // 2} of {number}", HALVES, id="three inputs"),
        pytest.param(spell, SPELT, id="words"),
        pytest.param(lambda number: number, [1, 5, 90, 400], id="given back"),
        pytest.param(lambda number: "ABCDF"[min(4, number // 20)], [5, 25, 45, 65, 95], id="a few kinds"),
        pytest.param(lambda text: len(text.split()), ["a", "a b", "a b c", "a b c d"], id="counted"),
        pytest.param({"red": 90, "blue": 417, "tan": 802, "sea": 5}.__getitem__, ["red", "blue"], id="names"),
        pytest.param({1: 31, 2: 28, 3: 31, 4: 30}.__getitem__, [1, 2, 3, 4], id="all that there is"),
        pytest.param(
            weekdays, [*((2, day) for day in range(7)), (1, 6), (1, 0), (6, 3)], id="a finite range"
        ),
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
    further = Asking(repeats).further
    assert further.asks("call", repeats, (object(),), {}) is None
    assert further.asks("call", print, (1,), {}) is None


def test_a_function_that_is_called_very_often_is_not_looked_at_each_time() -> None:
    asking = Asking(abs)
    for _ in range(2000):
        asking.ask("call", abs, -1)
    assert asking.further.asks("call", abs, (-2,), {}) is None


class Table:
    """Answers by looking up, in every way in which tests can ask an object."""

    def __init__(self, number: int, offset: int = 0) -> None:
        self.number = number
        self.text = ROMAN.get(number - offset, "")

    def written(self, mark: str = "") -> str:
        return mark + ROMAN.get(self.number, "")

    def __str__(self) -> str:
        return self.text

    def put(self, number: int) -> None:
        self.text = ROMAN[number]

    @classmethod
    def read(cls, number: int) -> "Table":
        return cls(number)


def by_method(asking: Asking, number: int) -> None:
    asking.ask("call", asking.ask("get", asking.ask("call", Table, number), "written"))


def by_keyword(asking: Asking, number: int) -> None:
    made = asking.ask("call", Table, number=number)
    asking.ask("call", asking.ask("get", made, "written"), mark="")


def by_attribute(asking: Asking, number: int) -> None:
    made = asking.ask("call", Table, number)
    asking.ask("get", made, "number")
    asking.ask("get", made, "text")


def by_operator(asking: Asking, number: int) -> None:
    asking.ask("dunder", asking.ask("call", Table, number), "__str__")


def by_class_method(asking: Asking, number: int) -> None:
    made = asking.ask("call", asking.ask("get", Table, "read"), number)
    asking.ask("get", made, "text")


def after_change(asking: Asking, number: int) -> None:
    made = asking.ask("call", Table, 7)
    asking.ask("call", asking.ask("get", made, "put"), number)
    asking.ask("get", made, "text")


def after_use(asking: Asking, number: int) -> None:
    made = asking.ask("call", Table, number)
    asking.further.asks("call", print, (made,), {})
    asking.ask("get", made, "text")


def after_use_with_method(asking: Asking, number: int) -> None:
    made = asking.ask("call", Table, 7)
    method = asking.ask("get", made, "written")
    asking.ask("call", asking.ask("get", made, "put"), number)
    asking.ask("call", method)


WAYS = [
    pytest.param(by_method, "module.function.written", "function(1).written() -> 'I'", id="method"),
    pytest.param(
        by_keyword, "module.function.written", "function(number=1).written(mark='') -> 'I'", id="keyword"
    ),
    pytest.param(by_attribute, "module.function.text", "function(1).text -> 'I'", id="attribute"),
    pytest.param(by_operator, "module.function.__str__", "function(1).__str__() -> 'I'", id="operator"),
    pytest.param(by_class_method, "module.function.read.text", "function.read(1).text -> 'I'", id="chain"),
]


@pytest.mark.parametrize(("way", "name", "first"), WAYS)
def test_objects_that_only_know_the_tests(way: Callable[..., None], name: str, first: str) -> None:
    asking = Asking(Table)
    for number in ROMAN:
        way(asking, number)
    (record,) = asking.repeating()
    assert record["function"] == name
    assert " -> ".join(record["tested"][0]) == first
    assert len(record["others"]) == 24


@pytest.mark.parametrize("way", [after_change, after_use, after_use_with_method])
def test_objects_that_may_have_changed_do_not_count(way: Callable[..., None]) -> None:
    asking = Asking(Table)
    for number in ROMAN:
        way(asking, number)
    assert not asking.repeating()


class Sign:
    """An honest object: it keeps what it is given."""

    def __init__(self, sign: str, weight: int) -> None:
        self.sign = sign
        self.weight = weight


def test_attributes_that_hold_what_was_given_are_no_table() -> None:
    asking = Asking(Sign)
    for sign, weight in [("+", 12), ("-", 40), ("*", 90), ("/", 7), ("%", 66)]:
        asking.ask("get", asking.ask("call", Sign, sign, weight), "sign")
    assert not asking.repeating()


class Money:
    """An object that says what it is."""

    def __init__(self, amount: int) -> None:
        self.amount = amount

    def __repr__(self) -> str:
        return f"Money({self.amount})"

    def double(self) -> None:
        self.amount *= 2


class Silent(Money):
    """An object that says nothing of itself."""

    __repr__ = object.__repr__


class Pair(NamedTuple):
    """A value of a class derived from a built-in type."""

    one: int
    two: int


class Size(Enum):
    """All results that there are."""

    SMALL = 1
    MEDIUM = 2
    LARGE = 3
    HUGE = 4


def looked_up(kind: Callable[[int], Any]) -> Callable[[int], Any]:
    return lambda number: kind(nearest(SQUARES)(number))


def pair(number: int) -> Pair:
    return Pair(number, number + 1)


def size(number: int) -> Size:
    return Size(min(4, number // 12 + 1))


@pytest.mark.parametrize("kind", [Money, pair])
def test_objects_by_what_they_say(kind: Callable[[int], Any]) -> None:
    assert repeats(looked_up(kind), *SQUARES)
    assert not repeats(lambda number: kind(number**2), *SQUARES)


@pytest.mark.parametrize("kind", [Silent, lambda number: Silent])
def test_objects_that_say_nothing_do_not_count(kind: Callable[[int], Any]) -> None:
    assert not repeats(looked_up(kind), *SQUARES)


def test_members_of_an_enumeration_may_be_all_results() -> None:
    assert not repeats(size, *SQUARES)


def test_objects_that_tests_change_do_not_count() -> None:
    asking = Asking(looked_up(Money))
    for number in SQUARES:
        made = asking.ask("call", asking.kept[0], number)
        asking.ask("call", asking.ask("get", made, "double"))
    assert not asking.repeating()


def test_an_object_whose_parts_tests_read_is_no_second_question() -> None:
    asking = Asking(looked_up(Money))
    for number in SQUARES:
        asking.ask("get", asking.ask("call", asking.kept[0], number), "amount")
    assert [each["function"] for each in asking.repeating()] == ["module.function.amount"]


def test_the_same_calls_lead_to_the_same_inputs() -> None:
    def others(seed: str) -> list[Any]:
        asking = Asking(default(ROMAN))
        for each in ROMAN:
            asking.ask("call", asking.kept[0], each)
        (record,) = asking.repeating(seed)
        return record["others"]

    assert others("one") == others("one") != others("two")
