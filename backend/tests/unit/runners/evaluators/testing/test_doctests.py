"""The base's doctests judge sources that ask for less or something else."""

from typing import Any

import pytest

from app.runners.evaluators.testing.layout.doctests import fixtures_of_doctests, with_base_doctests
from tests.unit.runners.evaluators.conftest import Tree
from tests.unit.runners.evaluators.testing.gate_support import run

BASE = 'def f():\n    """Do.\n\n    >>> f()\n    1\n    """\n    return 0\n'
WEAKER = {
    "another result": BASE.replace("    1\n", "    2\n"),
    "a skip": BASE.replace(">>> f()", ">>> f()  # doctest: +SKIP"),
    "no example": BASE.replace("    >>> f()\n    1\n", ""),
    "no docstring": "def f():\n    return 0\n",
}
AS_MUCH = {
    "the same": BASE,
    "other code": BASE.replace("return 0", "return 1"),
    "a further example": BASE.replace("    1\n", "    1\n    >>> f() + 1\n    2\n"),
    "other words": BASE.replace("Do.", "Do ä more."),
    "no function": "x = 1\n",
    "no program": "def (",
}


@pytest.mark.parametrize("text", WEAKER.values(), ids=WEAKER.keys())
def test_docstrings_that_ask_for_something_else_are_the_bases(tree: Tree, text: str) -> None:
    after = "# ä\n" + text.replace("return 0", "return 5")
    found = with_base_doctests(tree({"a.py": BASE}), tree({"a.py": after}), ["a.py"])
    assert found["a.py"].decode() == "# ä\n" + BASE.replace("return 0", "return 5")


def test_a_docstring_comes_before_the_decorators_of_the_first_statement(tree: Tree) -> None:
    text = '    """Do.\n\n    >>> A().x\n    1\n    """\n\n'
    base = f"class A:\n{text}    @property\n    def x(self):\n        return 1\n"
    after = base.replace(text, "")
    found = with_base_doctests(tree({"a.py": base}), tree({"a.py": after}), ["a.py"])
    assert found["a.py"].decode() == base.replace('"""\n\n', '"""\n')


def test_sources_in_another_encoding_keep_it(tree: Tree) -> None:
    base = f"# coding: latin-1\n# ä\n{BASE.replace('Do.', 'Do ä.')}".encode("latin-1")
    after = base.replace(b"    1\n", b"    2\n").replace(b"return 0", b"return 5")
    found = with_base_doctests(tree({"a.py": base}), tree({"a.py": after}), ["a.py"])
    assert found["a.py"] == base.replace(b"return 0", b"return 5")


def test_a_docstring_that_another_encoding_lacks_means_the_same(tree: Tree) -> None:
    base = BASE.replace("Do.", "Do ж.")
    after = f"# coding: ascii\n{BASE}".replace("    1\n", "    2\n")
    found = with_base_doctests(tree({"a.py": base}), tree({"a.py": after}), ["a.py"])
    held: dict[str, Any] = {}
    exec(compile(found["a.py"], "a.py", "exec"), held)
    assert held["f"].__doc__ == "Do ж.\n\n    >>> f()\n    1\n    "


@pytest.mark.parametrize("text", AS_MUCH.values(), ids=AS_MUCH.keys())
def test_docstrings_that_ask_for_as_much_stay(tree: Tree, text: str) -> None:
    assert with_base_doctests(tree({"a.py": BASE}), tree({"a.py": text}), ["a.py"]) == {}


def test_fixtures_that_doctests_ask_for_by_name_are_found(tree: Tree) -> None:
    asked = '"""Write.\n\n>>> fs = getfixture("fs")\n>>> getfixture( \'tmp_path\' ).name\n"""\n'
    root = tree({"a.py": asked, "b.rst": ">>> getfixture('monkeypatch')\n", "c.c": "getfixture('no')"})
    names = ["a.py", "b.rst", "c.c", "gone.py"]
    assert fixtures_of_doctests(root, names) == ["fs", "monkeypatch", "tmp_path"]


RUN_BY_A_TEST = {
    "calc.py": 'def half(x):\n    """Halve.\n\n    >>> half(5)\n    2\n    """\n    return x // 2\n',
    "tests/test_docs.py": "import doctest\n\nimport calc\n\n\ndef test_docs():\n"
    "    assert doctest.testmod(calc).failed == 0\n\n\ndef test_zero():\n    assert calc.half(0) == 0\n",
}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        pytest.param({"x // 2": "x / 2", "    2\n": "    2.5\n"}, True, id="the example goes with the code"),
        pytest.param(
            {"x // 2": "x / 2", "half(5)\n    2\n": "half(4)\n    2.5\n"}, False, id="it fails, too"
        ),
        pytest.param({"x // 2": "x // 3", "    >>> half(5)\n    2\n": ""}, True, id="without the example"),
    ],
)
async def test_doctests_that_a_test_runs_are_the_bases(context, changes, asked: bool) -> None:
    code = RUN_BY_A_TEST["calc.py"]
    for before, after in changes.items():
        code = code.replace(before, after)
    result = await run(context, {**RUN_BY_A_TEST, "calc.py": code}, RUN_BY_A_TEST, outside=False)
    texts = ["`tests/test_docs.py::test_docs` passes only with the changed `calc.py`: does the goal say so?"]
    assert [each.text for each in result.questions] == (texts if asked else []), result.feedback
    assert result.status == "failed"
    if asked:
        assert "    2\n" in result.questions[0].before
        assert "def half" not in result.questions[0].after


@pytest.mark.anyio
async def test_other_words_around_the_same_doctests_pass(context) -> None:
    changed = {**RUN_BY_A_TEST, "calc.py": RUN_BY_A_TEST["calc.py"].replace("Halve.", "Return half of x.")}
    result = await run(context, changed, RUN_BY_A_TEST, outside=False)
    assert (result.status, result.questions) == ("passed", []), result.feedback
