"""Which new statements count, and which of them ran."""

import pytest

from app.runners.evaluators.testing.sorting.unrun_code import UnrunCode, unrun_code

FUNCTION = "def f(n):\n    if n:\n        return 1\n    return 2\n"


def judged(now: str, *ran: int, before: str = "") -> UnrunCode:
    return unrun_code([("shop.py", before, now)], {"shop.py": frozenset(ran)})


def test_what_did_not_run_is_named_by_its_lines() -> None:
    found = judged(FUNCTION, 1, 2, 4)
    assert (found.statements, dict(found.unrun)) == (3, {"shop.py": [(3, 3)]})
    assert found.sentence == "No test ran 1 of 3 new statements: shop.py:3"


def test_metadata_has_lines_without_a_gap_together() -> None:
    found = judged("if a:\n    b()\n    c()\n# Then.\nd()\n", 5)
    assert found.metadata() == {"statements": 4, "unrun": 3, "unrun_lines": {"shop.py": [[1, 3]]}}


def test_what_ran_as_a_whole_is_said_too() -> None:
    assert judged(FUNCTION, 1, 2, 3, 4).sentence == "Tests ran all of 3 new statements"


def test_a_file_that_no_test_loads_did_not_run() -> None:
    found = unrun_code([("shop.py", "", FUNCTION)], {})
    assert found.sentence == "No test ran 3 of 3 new statements: shop.py:2-4"


def test_only_new_and_changed_statements_count() -> None:
    now = FUNCTION.replace("return 2", "return 3")
    assert judged(now, before=FUNCTION).unrun == {"shop.py": [(4, 4)]}


def test_more_files_than_a_sentence_holds_are_counted() -> None:
    files = [(f"m{number}.py", "", "x = 1\n") for number in range(7)]
    assert unrun_code(files, {}).sentence == (
        "No test ran 7 of 7 new statements: m0.py:1; m1.py:1; m2.py:1; m3.py:1; m4.py:1 and 2 more files"
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import os\nfrom os import path\n", id="imports"),
        pytest.param("def f():\n    '''Say something.'''\n", id="a definition with its docstring"),
        pytest.param("class A:\n    x: int\n", id="an annotation"),
        pytest.param("class A(Protocol):\n    def f(self): ...\n", id="a body of dots"),
        pytest.param("if TYPE_CHECKING:\n    A = 1\n", id="for type checkers"),
        pytest.param("if typing.TYPE_CHECKING:\n    A = 1\n", id="for type checkers, by its module"),
        pytest.param("# a comment\n\n", id="a comment"),
        pytest.param("def f(:\n", id="no Python"),
        pytest.param("x = '\0'\n", id="a null byte"),
        pytest.param("", id="an empty file"),
    ],
)
def test_what_says_little_does_not_count(text: str) -> None:
    assert judged(text) == UnrunCode(0, {})


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        pytest.param("x = f(\n    1,\n)\n", [(1, 3)], id="over several lines"),
        pytest.param("if (\n    a\n    or b\n):\n    c()\n", [(1, 4), (5, 5)], id="a long condition"),
        pytest.param("if a: b()\n", [(1, 1), (1, 1)], id="in one line"),
        pytest.param("try:\n    a()\nexcept E:\n    b()\n", [(2, 2), (4, 4)], id="a handler"),
        pytest.param("match a:\n    case 1:\n        b()\n", [(1, 1), (3, 3)], id="a case"),
        pytest.param("for a in b:\n    c()\nelse:\n    d()\n", [(1, 1), (2, 2), (4, 4)], id="a loop's else"),
        pytest.param("if a:\n    b()\nelif c:\n    d()\n", [(1, 1), (2, 2), (3, 3), (4, 4)], id="elif"),
        pytest.param("async def f():\n    async with a:\n        await b\n", [(2, 2), (3, 3)], id="async"),
        pytest.param("class A:\n    def f(self):\n        return 1\n", [(3, 3)], id="a method"),
    ],
)
def test_statements_in_the_order_of_their_lines(text: str, spans: list[tuple[int, int]]) -> None:
    assert judged(text).unrun == {"shop.py": spans}


def test_a_compound_statement_ran_if_something_in_it_did() -> None:
    """Python reports no line for `while True`, which it need not decide."""
    assert not judged("while True:\n    break\n    f()\n", 2, 3).unrun


def test_lines_are_those_that_python_counts() -> None:
    """A form feed and a separator end no line, although texts are split there."""
    assert judged("a = '\u2028'\n\x0cb = 1\nc = 2\n", 1, 2).unrun == {"shop.py": [(3, 3)]}
