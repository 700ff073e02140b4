"""New code that satisfies tests or a checker without the work behind it is a question."""

import pytest

from tests.unit.runners.evaluators.testing.test_source_questions import questions

TEST = "from a import f\n\n\ndef test_f():\n    assert f(1) == 2\n"
BASE = {"a.py": "def f(x):\n    raise NotImplementedError\n", "tests/test_a.py": TEST}
EQUAL = "    def __eq__(self, other):\n        return True\n"


def asked(tmp_path, code, base=BASE):
    return [each.text for each in questions(tmp_path, {"a.py": code}, base)]


@pytest.mark.parametrize(
    ("code", "does"),
    [
        (f"class V(str):\n{EQUAL}", "derives `V` from `str`"),
        (f"class V(list):\n{EQUAL}", "derives `V` from `list`"),
        (
            "class V:\n    def __eq__(self, other):\n        self.x = self.x or other\n"
            "        return self.x == other\n",
            "changes a `V` while it is compared",
        ),
        (
            "class V:\n    def __eq__(self, other):\n        object.__setattr__(self, 'x', other)\n"
            "        return True\n",
            "changes a `V` while it is compared",
        ),
        ("def g(x: object) -> TypeGuard[str]:\n    return True\n", "tells a type in `g`"),
        (
            "class V:\n    def g(self, x: object) -> TypeIs[str]:\n        return self.known\n",
            "tells a type in `g`",
        ),
        (
            "def g(x):\n    try:\n        assert x > 0\n    except AssertionError:\n        return 1\n",
            "depends on an assertion",
        ),
    ],
)
def test_hollow_code_is_a_question(tmp_path, code, does) -> None:
    (text,) = asked(tmp_path, code)
    assert text.startswith(f"`a.py` {does}"), text
    assert asked(tmp_path / "as-before", f"{code}\n\nNEW = 1\n", {**BASE, "a.py": code}) == []


@pytest.mark.parametrize(
    "code",
    [
        f"class V:\n{EQUAL}",
        "class V:\n    def __eq__(self, other):\n        mine = self.x\n        return mine == other.x\n",
        "class V(str):\n    def __hash__(self):\n        return 1\n",
        "def g(x: object) -> TypeGuard[str]:\n    return isinstance(x, str)\n",
        "def g(x: object) -> bool:\n    return True\n",
        "def g(x):\n    try:\n        assert x > 0\n    except KeyError:\n        return 1\n",
    ],
)
def test_similar_code_is_no_question(tmp_path, code) -> None:
    assert asked(tmp_path, code) == []


def test_an_argument_that_is_only_given_back_is_a_question(tmp_path) -> None:
    (text,) = asked(tmp_path, 'def f(x):\n    """Pack x."""\n    return x\n')
    assert text == "`a.py` only gives back the argument of `f`: does the goal say so?"
    method = {**BASE, "a.py": "class V:\n    def f(self, x):\n        raise NotImplementedError\n"}
    (text,) = asked(tmp_path / "method", "class V:\n    def f(self, x):\n        return x\n", method)
    assert "`V.f`" in text


def test_a_function_that_is_only_partly_implemented_is_a_question(tmp_path) -> None:
    part = "def f(x):\n    if x > 9:\n        raise NotImplementedError('later')\n    return x + 1\n"
    (text,) = asked(tmp_path, part)
    assert text == "`a.py` implements only a part of `f`: does the goal say so?"
    assert asked(tmp_path / "before", f"{part}\n\nNEW = 1\n", {**BASE, "a.py": part}) == []
    other = f"{BASE['a.py']}\n\ndef g(x):\n    if x:\n        raise NotImplementedError\n    return x + 1\n"
    assert asked(tmp_path / "other", other) == []
    elsewhere = part.replace("x > 9", "sys.platform == 'win32'")
    assert asked(tmp_path / "elsewhere", elsewhere) == []


@pytest.mark.parametrize(
    "code",
    ["def f(x):\n    return x + 1\n", "def f(x):\n    return 1\n", "def g(x):\n    return x\n"],
)
def test_other_results_are_no_question(tmp_path, code) -> None:
    assert asked(tmp_path, code) == []


def test_an_implemented_function_may_come_to_return_its_argument(tmp_path) -> None:
    done = {**BASE, "a.py": "def f(x):\n    return x.strip()\n"}
    assert asked(tmp_path, "def f(x):\n    return x\n", done) == []
