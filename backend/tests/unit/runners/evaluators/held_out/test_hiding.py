"""A part of a test file's cases is hidden, and what stays says the same as before."""

import ast
import random
import textwrap

import pytest

from app.runners.evaluators.held_out.hiding import hide_cases

ROWS = """
import pytest
from roman import to_roman

@pytest.mark.parametrize(("number", "text"), [
    (1, "I"),  # the first
    (4, "IV"),
    (9, "IX"),
    (40, "XL"),
    (3999, "MMMCMXCIX"),
])
def test_numbers(number, text):
    assert to_roman(number) == text
"""
TABLE = """
import pytest
from roman import to_roman

CASES = [(1, "I"), (4, "IV"), (9, "IX"), (40, "XL")]

@pytest.mark.parametrize("number, text", CASES)
def test_numbers(number, text):
    assert to_roman(number) == text
"""
CHECKS = """
def test_a_stack():
    stack = Stack([1, 2, 3])
    assert stack.pop() == 3
    assert stack.pop() == 2
    left = stack.pop()
    assert left == 1
    with pytest.raises(IndexError):
        stack.pop()
"""
LOOP = """
def test_numbers():
    for number, text in ((1, "I"), (4, "IV"), (9, "IX"), (40, "XL")):
        assert to_roman(number) == text
"""
METHODS = """
class TestHalf(unittest.TestCase):
    def test_eight(self):
        self.assertEqual(half(8), 4)

    def test_six(self):
        self.assertEqual(half(6), 3)

    @unittest.skipIf(False, "never")
    def test_ten(self):
        self.assertEqual(half(10), 5)
"""


def hidden(source: str, share: float = 0.4, seed: int = 0) -> tuple[str, int, int]:
    source = textwrap.dedent(source)
    found = hide_cases(source, share, random.Random(seed))
    assert found is not None
    ast.parse(found.text)
    return found.text, found.hidden, found.total


@pytest.mark.parametrize("source", [ROWS, TABLE, LOOP], ids=["rows", "table", "loop"])
@pytest.mark.parametrize("seed", range(10))
def test_rows_are_hidden_and_two_stay(source, seed) -> None:
    text, count, total = hidden(source, 0.8, seed)
    rows = [each for each in ('"I"', '"IV"', '"IX"', '"XL"', '"MMMCMXCIX"') if each in text]
    assert len(rows) == 2
    assert count == total - 2


def test_a_table_that_two_tests_run_through_loses_each_row_once() -> None:
    second = (
        '@pytest.mark.parametrize("number, text", CASES)\ndef test_back(number, text):\n    assert to(text)\n'
    )
    text, count, total = hidden(TABLE + second, 0.5)
    assert (count, total) == (2, 4)
    assert text.count('"') == TABLE.count('"') + second.count('"') - 4


def test_the_choice_differs_by_seed_and_is_the_same_for_one() -> None:
    assert len({hidden(ROWS, 0.4, seed)[0] for seed in range(20)}) > 3
    assert hidden(ROWS, 0.4, 1) == hidden(ROWS, 0.4, 1)


def test_only_the_last_checks_are_hidden_because_others_depend_on_earlier_ones() -> None:
    text, count, total = hidden(CHECKS, 0.5)
    assert text.strip().endswith("assert stack.pop() == 2")
    assert (count, total) == (2, 4)


def test_the_last_rounds_of_a_loop_are_hidden() -> None:
    assert '((1, "I"), (4, "IV")):' in hidden(LOOP, 0.5)[0]


def test_a_whole_test_is_hidden_if_the_others_use_the_same_names() -> None:
    text, count, total = hidden(METHODS, 0.3)
    assert text.count("def test_") == 2
    assert (count, total) == (1, 3)


def test_many_tests_are_hidden_in_one_go_and_one_stays_in_each_class() -> None:
    tests = "".join(f"    def test_{at}(self):\n        assert half({at})\n\n" for at in range(40))
    text, count, total = hidden(f"class TestA:\n{tests}\nclass TestB:\n{tests}", 0.8)
    assert (count, total) == (64, 80)
    assert text.count("def test_") == 16
    assert all("def test_" in each for each in text.split("class Test")[1:])


def test_a_name_that_no_other_test_uses_stays() -> None:
    source = "def test_a():\n    assert half(8) == 4\n\n\ndef test_b():\n    assert third(9) == 3\n"
    assert hide_cases(source, 0.5, random.Random(0)) is None
    more = source + "\n\ndef test_c():\n    assert half(6) == 3\n"
    assert all("third(9)" in hidden(more, 0.3, seed)[0] for seed in range(10))


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def test_a():\n    assert f(1) == 2\n", id="one check"),
        pytest.param("def helper():\n    assert f(1) == 2\n    assert f(2) == 3\n", id="no test"),
        pytest.param("", id="nothing"),
        pytest.param("def test_a():\n    x = 1; assert x == f(1); assert f(2) == 3\n", id="one line"),
        pytest.param(
            "@pytest.mark.parametrize('x', [1, 2, 3], ids=['a', 'b', 'c'])\ndef test_a(x):\n    assert x\n",
            id="rows with names",
        ),
        pytest.param(
            "def test_a():\n    s = start()\n    assert s.up\n    assert s.on\n    s.stop()\n",
            id="a tidy end",
        ),
        pytest.param(
            "@pytest.mark.parametrize('x', [1, 2])\ndef test_a(x):\n    assert f(x) == x\n", id="two rows"
        ),
        pytest.param(
            "ROWS = [1, 2, 3]\n@pytest.mark.parametrize('x', ROWS)\ndef test_a(x):\n    assert f(x)\n"
            "print(len(ROWS))\n",
            id="a table that is used elsewhere",
        ),
        pytest.param(
            "def test_a():\n    for x in [1, 2, 3]:\n        s.add(x)\n    assert s == 6\n", id="a sum"
        ),
    ],
)
def test_what_cannot_be_hidden_stays(source) -> None:
    assert hide_cases(source, 0.5, random.Random(0)) is None


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param("[(1),\n (2),\n (3),\n (4)]", id="brackets"),
        pytest.param("[1, 2, # two\n 3, 4, # four\n]", id="comments"),
        pytest.param('["ä", "ö", "ü", "ß"]', id="other letters"),
        pytest.param("[f(1), *more, f(2), f(3)]", id="unpacked"),
        pytest.param("[pytest.param(1, id='a'), pytest.param(2), 3, 4]", id="parameters with names"),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_a_cut_changes_nothing_else(rows, seed) -> None:
    source = f"@pytest.mark.parametrize('x', {rows})\ndef test_a(x):\n    assert f(x)\n"
    found = hide_cases(source, 0.4, random.Random(seed))
    before = ast.parse(source)
    if found is None:
        return
    after = ast.parse(found.text)
    kept = [ast.dump(each) for each in _rows(after)]
    assert [each for each in map(ast.dump, _rows(before)) if each in kept] == kept
    assert len(_rows(before)) - len(kept) == found.hidden
    assert ast.dump(before.body[0].body[0]) == ast.dump(after.body[0].body[0])


def _rows(module: ast.Module) -> list[ast.expr]:
    function = module.body[0]
    assert isinstance(function, ast.FunctionDef)
    call = function.decorator_list[0]
    assert isinstance(call, ast.Call)
    rows = call.args[1]
    assert isinstance(rows, ast.List)
    return rows.elts


@pytest.mark.parametrize("source", [ROWS, TABLE, CHECKS, METHODS], ids=["rows", "table", "checks", "tests"])
def test_line_ends_stay_as_they_are(source) -> None:
    plain = hide_cases(source, 0.4, random.Random(3))
    other = hide_cases(source.replace("\n", "\r\n"), 0.4, random.Random(3))
    assert plain is not None
    assert other is not None
    assert other.text == plain.text.replace("\n", "\r\n")


def test_only_wanted_tests_lose_cases() -> None:
    source = ROWS + "\ndef test_others():\n    assert f(1) == 1\n    assert f(2) == 2\n"
    found = hide_cases(source, 0.4, random.Random(0), lambda name: name == "test_others")
    assert found is not None
    assert found.text.count('"') == source.count('"')
    assert "f(2)" not in found.text
    assert (found.hidden, found.total) == (1, 2)


def test_source_that_is_not_python_is_an_error() -> None:
    with pytest.raises(SyntaxError):
        hide_cases("def test_(:", 0.5, random.Random(0))
