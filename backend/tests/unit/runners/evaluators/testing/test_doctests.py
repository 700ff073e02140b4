"""The base's doctests judge sources that ask for less or something else."""

import pytest

from app.runners.evaluators.testing.layout.doctests import fixtures_of_doctests, with_base_doctests
from tests.unit.runners.evaluators.conftest import Tree

BASE = 'def f():\n    """Do.\n\n    >>> f()\n    1\n    """\n    return 0\n'
WEAKER = {
    "another result": BASE.replace("    1\n", "    2\n"),
    "a skip": BASE.replace(">>> f()", ">>> f()  # doctest: +SKIP"),
    "no example": BASE.replace("    >>> f()\n    1\n", ""),
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


@pytest.mark.parametrize("text", AS_MUCH.values(), ids=AS_MUCH.keys())
def test_docstrings_that_ask_for_as_much_stay(tree: Tree, text: str) -> None:
    assert with_base_doctests(tree({"a.py": BASE}), tree({"a.py": text}), ["a.py"]) == {}


def test_fixtures_that_doctests_ask_for_by_name_are_found(tree: Tree) -> None:
    asked = '"""Write.\n\n>>> fs = getfixture("fs")\n>>> getfixture( \'tmp_path\' ).name\n"""\n'
    root = tree({"a.py": asked, "b.rst": ">>> getfixture('monkeypatch')\n", "c.c": "getfixture('no')"})
    names = ["a.py", "b.rst", "c.c", "gone.py"]
    assert fixtures_of_doctests(root, names) == ["fs", "monkeypatch", "tmp_path"]
