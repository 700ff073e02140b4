"""Wrong values are wrong: other values of the same kind, in source text that means them."""

import ast
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.runners.evaluators.testing.counter_tests.literals import (
    NoLiteralError,
    matches,
    plain_value,
    read_plain,
    wrong_texts,
)

VALUES = st.one_of(
    st.text(max_size=20),
    st.binary(max_size=20),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e100, max_value=1e100),
    st.booleans(),
)


@given(VALUES, st.lists(VALUES, max_size=4), st.integers())
def test_every_wrong_text_means_another_value(value, pool, seed: int) -> None:
    texts = wrong_texts(value, repr(value).encode(), pool, Random(seed))
    assert texts
    for text in texts:
        read = read_plain(text)
        assert type(read) is type(value)
        assert read != value


def test_nothing_is_never_mistaken_for_something() -> None:
    assert {read_plain(each) for each in wrong_texts(None, b"None", [None], Random(1))} == {False}


@pytest.mark.parametrize("text", ["'Aa'", "b'Aa'", "r'Aa'", "'''A\na'''", "'A' 'a'", '"Aa"'])
def test_near_misses_differ_in_a_letter_and_not_in_its_case(text: str) -> None:
    value = ast.literal_eval(text)
    for seed in range(50):
        for wrong in wrong_texts(value, text.encode(), [], Random(seed)):
            read = read_plain(wrong)
            assert isinstance(read, str | bytes)
            assert len(read) == len(value)
            assert read.lower() != value.lower()


@pytest.mark.parametrize("late", [True, False])
def test_a_text_is_misspelt_in_the_third_that_is_asked_for(late: bool) -> None:
    value = "/etc/ann/shop.toml"
    for seed in range(50):
        for wrong in wrong_texts(value, repr(value).encode(), [], Random(seed), late=late):
            read = str(read_plain(wrong))
            (place,) = (at for at, (one, two) in enumerate(zip(value, read, strict=True)) if one != two)
            assert place >= len(value) - 5 if late else place <= 5


def test_values_of_the_same_file_are_drawn_in_the_same_quotes() -> None:
    drawn = {each for seed in range(50) for each in wrong_texts("IV", b'"IV"', ["IX", "XL"], Random(seed))}
    assert {b'"IX"', b'"XL"'} <= drawn


def test_a_value_that_differs_only_in_spelling_is_not_drawn() -> None:
    drawn = {each for seed in range(50) for each in wrong_texts("a-b", b"'a-b'", ["A B", "ab"], Random(seed))}
    assert drawn.isdisjoint({b"'A B'", b"'ab'"})


@pytest.mark.parametrize("text", ["[1]", "x", "f'a'", "1 + 1", "...", "-x", "-'a'"])
def test_what_is_no_plain_literal(text: str) -> None:
    with pytest.raises(NoLiteralError):
        plain_value(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize("text", [b"", b"(", b"x", b"1 1", b"\xff", b"(" * 500])
def test_text_that_means_no_plain_value(text: bytes) -> None:
    assert read_plain(text) is ...


def test_patterns() -> None:
    assert matches("a.c", "xabcx") is True
    assert matches("a.c", "ac") is False
    assert matches("(", "(") is None
