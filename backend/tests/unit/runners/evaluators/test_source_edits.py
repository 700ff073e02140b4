"""Edits by position hit what they aim at, whatever the text before them."""

import ast

import pytest

from app.runners.evaluators.source_edits import Edit, Source, apply_edits


def first_constant(content: bytes) -> ast.Constant:
    return next(each for each in ast.walk(ast.parse(content)) if isinstance(each, ast.Constant))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"x = 'a'\n", id="plain"),
        pytest.param("ä = 'a'\n".encode(), id="letters of several bytes"),
        pytest.param(b"y = b\r\nx = 'a'\r\n", id="lines that end as on Windows"),
        pytest.param(b"y = b\rx = 'a'\n", id="lines that end as on old machines"),
        pytest.param(b"y = b\x0c\nx = 'a'\n", id="a form feed, which ends no line"),
    ],
)
def test_a_node_is_found(content: bytes) -> None:
    source = Source(content)
    assert source.text(first_constant(content)) == b"'a'"


def test_lines_stay_in_their_place() -> None:
    content = b"x = ('a'\n     'b')\ny = 1\n"
    source = Source(content)
    edited = apply_edits(content, [source.replaced(first_constant(content), b"'c'")])
    module = ast.parse(edited)
    assert ast.literal_eval(ast.unparse(module.body[0]).partition("= ")[2]) == "c"
    assert module.body[1].lineno == 3


def test_edits_are_applied_in_any_order() -> None:
    assert apply_edits(b"abcdef", [Edit(4, 5, b"E"), Edit(0, 1, b"A"), Edit(2, 2, b"--")]) == b"Ab--cdEf"


def test_edits_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap at byte 1"):
        apply_edits(b"abc", [Edit(0, 2, b"x"), Edit(1, 3, b"y")])
