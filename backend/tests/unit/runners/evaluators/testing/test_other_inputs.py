"""Inputs that no test has, drawn from those that tests have."""

from datetime import date
from random import Random

import pytest

from app.runners.evaluators.testing.pytest_outside.other_inputs import kinds_of, other_inputs
from app.runners.evaluators.testing.pytest_outside.plain_values import is_plain, shown


def drawn(*asked: tuple[object, ...]) -> list[tuple[object, ...]]:
    return other_inputs(list(asked), Random(1), 24)


def test_numbers_lie_between_the_others_or_little_above_them() -> None:
    found = drawn((1,), (14,), (444,), (1994,))
    assert len(found) == 24
    assert all(type(number) is int and 1 < number <= 1994 + 996 for (number,) in found)
    assert not {(14,), (444,), (1994,)}.intersection(found)


def test_numbers_without_a_gap_may_be_all_that_there_are() -> None:
    assert drawn(*((month,) for month in range(1, 13))) == []


def test_fractions_lie_between_the_others() -> None:
    assert all(0.5 < number < 2.5 for (number,) in drawn((0.5,), (2.5,)))


def test_texts_get_other_numbers_and_words() -> None:
    found = {text for (text,) in drawn(("2 apples",), ("30 pears",))}
    assert {"2 pears", "30 apples"} <= found
    assert all(len(text.split()) == 2 for text in found)


def test_texts_without_blanks_keep_their_form() -> None:
    found = [text for (text,) in drawn(("2024-01-31",), ("1999-12-01",))]
    assert len(found) == 24
    assert all([len(part) for part in text.split("-")] == [4, 2, 2] for text in found)
    assert all(part.isdigit() for text in found for part in text.split("-"))


@pytest.mark.parametrize("texts", [("red", "blue", "green"), ("<>", "<<>>"), ("",)])
def test_single_words_have_no_parts_to_exchange(texts: tuple[str, ...]) -> None:
    assert drawn(*((text,) for text in texts)) == []


def test_arguments_of_several_calls_are_combined() -> None:
    assert {("red", 1), ("blue", 2)} <= set(drawn(("red", 2), ("blue", 1)))


def test_items_of_a_fixed_number_keep_their_places() -> None:
    points = [([0, 10],), ([1, 20],), ([2, 30],)]
    assert all(point[0] < 3 <= point[1] and len(point) == 2 for (point,) in drawn(*points))


def test_lists_get_fewer_or_more_items_of_the_others() -> None:
    found = [items for (items,) in drawn(([1, 2, 3],), ([7, 8],))]
    assert len({len(items) for items in found}) > 1
    assert all(set(items) <= {1, 2, 3, 7, 8} for items in found)


def test_tables_get_parts_of_the_others() -> None:
    found = [table for (table,) in drawn(({"a": 1, "b": 2},), ({"c": 3},))]
    assert all(table.items() <= {"a": 1, "b": 2, "c": 3}.items() for table in found)
    assert {"a": 1, "b": 2, "c": 3} in found


def test_records_keep_all_their_keys() -> None:
    found = [record for (record,) in drawn(({"name": "a", "size": 1},), ({"name": "b", "size": 2},))]
    assert {(each["name"], each["size"]) for each in found} == {("a", 2), ("b", 1)}


def test_calls_without_arguments_have_no_others() -> None:
    assert drawn((), ()) == []


def test_the_given_arguments_stay_as_they_are() -> None:
    asked = [([1, 2, 3],), ([7, 8],)]
    other_inputs(asked, Random(1), 24)
    assert asked == [([1, 2, 3],), ([7, 8],)]


@pytest.mark.parametrize("value", [1, "a", None, 2.5, (1, [2]), {"a": {1}}, date(2024, 1, 31)])
def test_plain_values(value: object) -> None:
    assert is_plain(value)


@pytest.mark.parametrize("value", [object(), int, [object()], "a" * 401, [[[[[1]]]]], {1: print}])
def test_other_values_are_not_plain(value: object) -> None:
    assert not is_plain(value)


def test_the_kinds_of_arguments_hold_the_length_of_a_tuple() -> None:
    assert kinds_of((1, (2, 3))) == kinds_of((5, (6, 7)))
    assert kinds_of((1, (2, 3))) != kinds_of((1, (2, 3, 4)))
    assert kinds_of((1, [2])) == kinds_of((1, [2, 3]))


def test_equal_sets_are_shown_alike() -> None:
    assert shown({"b", "a"}) == shown({"a", "b"}) == "{'a', 'b'}"
