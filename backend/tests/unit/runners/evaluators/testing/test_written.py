"""What the text of test files tells about their tests, and when a process must be asked."""

import pytest

from app.runners.evaluators.testing.layout.written import read_tests

PLAIN = "import pytest\n\ndef test_a(): ...\n"


def read(tree, text: str, conftest: str = ""):
    return read_tests(tree({"t.py": text, "conftest.py": conftest}), ["t.py"], ["conftest.py"])


@pytest.mark.parametrize(
    ("text", "cases"),
    [
        pytest.param("def test_a(): ...\n", {"t.py::test_a": 1}, id="function"),
        pytest.param("class TestB:\n    def test_c(self): ...\n", {"t.py::TestB::test_c": 1}, id="class"),
        pytest.param(
            "import unittest\nclass B(unittest.TestCase):\n    def test_c(self): ...\n",
            {"t.py::B::test_c": 1},
            id="unittest",
        ),
        pytest.param(
            "@pytest.mark.parametrize('x', [1, 2])\n@pytest.mark.parametrize('y', (1, 2, 3))\n"
            "def test_a(x, y): ...\n",
            {"t.py::test_a": 6},
            id="literal parameters",
        ),
        pytest.param(
            "@pytest.mark.parametrize('x', range(3))\n@pytest.mark.parametrize('y', range(4, -1, -2))\n"
            "def test_a(x, y): ...\n",
            {"t.py::test_a": 9},
            id="numbers",
        ),
        pytest.param(
            "@pytest.mark.parametrize('x', [1, 2])\nclass TestB:\n    def test_c(self, x): ...\n",
            {"t.py::TestB::test_c": 2},
            id="parameters of a class",
        ),
        pytest.param("class Helper:\n    x = 1\nX = [1]\nfor x in X: pass\n", {}, id="no tests"),
        pytest.param(
            "class Error(Exception): ...\ndef test_a(): ...\n", {"t.py::test_a": 1}, id="other class"
        ),
    ],
)
def test_plain_files_are_certain(tree, text: str, cases: dict[str, int]) -> None:
    found = read(tree, text)
    assert found.certain
    assert {each.id: each.cases for each in found.tests} == cases
    ids = [f"{name}[{number}]" for name, count in cases.items() for number in range(count)]
    assert found.are_all_in(ids)
    assert not cases or not found.are_all_in(ids[1:])


@pytest.mark.parametrize(
    ("text", "conftest"),
    [
        pytest.param("def f(:\n", "", id="no Python"),
        pytest.param("from helpers import *\n", "", id="star import"),
        pytest.param("from helpers import test_x\n", "", id="imported test"),
        pytest.param("test_x = make()\n", "", id="assigned test"),
        pytest.param("if x:\n    def test_a(): ...\n", "", id="conditional test"),
        pytest.param("class TestB(Mixin):\n    pass\n", "", id="inherited tests"),
        pytest.param("class B(BaseTests):\n    pass\n", "", id="tests by inheritance"),
        pytest.param(PLAIN + "def pytest_generate_tests(m): ...\n", "", id="generated"),
        pytest.param(PLAIN, "def pytest_collection_modifyitems(items): ...\n", id="hook"),
        pytest.param(PLAIN, "collect_ignore = []\n", id="ignored"),
        pytest.param(
            PLAIN, "import pytest\n@pytest.fixture(params=X)\ndef f(): ...\n", id="fixture parameters"
        ),
        pytest.param(
            "@pytest.mark.parametrize('x', X)\ndef test_a(x): ...\n", "", id="parameters from elsewhere"
        ),
        pytest.param(
            "@pytest.mark.parametrize('x', [*X])\ndef test_a(x): ...\n", "", id="unpacked parameters"
        ),
        pytest.param("@pytest.mark.parametrize('x', range(N))\ndef test_a(x): ...\n", "", id="numbers to N"),
        pytest.param(
            "@pytest.mark.parametrize('x', range(1, 9, 0))\ndef test_a(x): ...\n", "", id="no numbers"
        ),
        pytest.param(
            "@pytest.mark.parametrize('x', range(1e3))\ndef test_a(x): ...\n", "", id="not of numbers"
        ),
    ],
)
def test_what_only_running_tells_is_not_certain(tree, text: str, conftest: str) -> None:
    found = read(tree, text, conftest)
    assert not found.are_all_in([each.id for each in found.tests])


@pytest.mark.parametrize(
    ("decorator", "skipped", "plain"),
    [
        pytest.param("@pytest.mark.skip", True, True, id="skip"),
        pytest.param("@pytest.mark.skip(reason='x')", True, True, id="skip with reason"),
        pytest.param("@unittest.skip('x')", True, True, id="unittest"),
        pytest.param("@pytest.mark.skipif(calc.slow, reason='x')", False, True, id="skipif"),
        pytest.param("@pytest.mark.xfail", False, True, id="xfail"),
        pytest.param("@given(st.integers())", False, False, id="another function in its place"),
    ],
)
def test_marks(tree, decorator: str, skipped: bool, plain: bool) -> None:
    (test,) = read(tree, f"{decorator}\ndef test_a(): ...\n").tests
    assert (test.skipped, test.plain) == (skipped, plain)
