"""New code that looks for tests, hides errors, or makes different things equal is a question."""

import pytest

from tests.unit.runners.evaluators.testing.test_source_questions import questions

MODULE = "import inspect\nimport os\nimport sys\nfrom pathlib import Path\n\n\n"
TEST = "from a import f\n\n\ndef test_f():\n    assert f(1) == 2\n"
BASE = {"a.py": "def f(x):\n    raise NotImplementedError\n", "tests/test_a.py": TEST}


def asked(tmp_path, code, base=BASE):
    return [each.text for each in questions(tmp_path, {"a.py": code}, base)]


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    return x + 1 if os.environ.get('PYTEST_CURRENT_TEST') else 0\n",
        "def f(x):\n    if 'PYTEST_VERSION' in os.environ:\n        return x + 1\n    return 0\n",
        "def f(x):\n    return x + 1 if 'pytest' in sys.modules else 0\n",
        "def f(x):\n    return x + 1 if any('pytest' in each for each in sys.argv) else 0\n",
        "def f(x):\n    return x + 1 if 'PYTEST' in ' '.join(os.environ) else 0\n",
        "def f(x):\n    return x + 1 if importlib.util.find_spec('pytest') else 0\n",
        "RUNS = 'unittest' in sys.modules\n\n\ndef f(x):\n    return x + 1 if RUNS else 0\n",
        "def runs():\n    return 'pytest' in sys.modules\n\n\ndef f(x):\n    return runs() and x + 1\n",
        "def f(x):\n    return 2 if inspect.stack()[1].function.startswith('test_') else 0\n",
        "def f(x):\n    return 2 if Path(__file__).with_name('tests').is_dir() else 0\n",
    ],
)
def test_code_that_asks_whether_tests_run_is_a_question(tmp_path, code) -> None:
    (text,) = asked(tmp_path, MODULE + code)
    assert "whether tests run" in text, text
    base = {**BASE, "b.py": MODULE + code}
    assert asked(tmp_path / "as-before", MODULE + code, base) == []


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    return os.environ.get('PYTEST_CURRENT_TEST', 'nowhere')\n",
        "WHO = 'pytest' in sys.modules\n",
        "def f(x):\n    return 'test' if x == 'pytest' else 'tests'\n",
        "def f(x):\n    return x + 1 if 'numpy' in sys.modules else 0\n",
        "def f(x):\n    return 1 if Path('test_data').exists() and x == 'test' else 2\n",
        'def f(x):\n    """Tell whether PYTEST_CURRENT_TEST is set."""\n    return x + 1\n',
    ],
)
def test_code_that_only_mentions_tests_is_no_question(tmp_path, code) -> None:
    assert asked(tmp_path, MODULE + code) == []


PLAIN = (
    "def f(x):\n    found = int(x)\n    if found < 0:\n        raise ValueError(x)\n    return found + 1\n"
)
INSIDE = "    try:\n" + "".join(f"    {line}\n" for line in PLAIN.splitlines()[1:])


@pytest.mark.parametrize(
    "code",
    [
        f"def f(x):\n{INSIDE}    except Exception:\n        return 2\n",
        f"def f(x):\n{INSIDE}    except:\n        pass\n",
        f"def f(x):\n{INSIDE}    finally:\n        return 2\n",
        PLAIN.replace("f(x)", "g(x)", 1)
        + "\n\ndef f(x):\n    try:\n        return g(x)\n    except Exception:\n        return 2\n",
        "def f(x):\n" + INSIDE.replace("try:", "with suppress(Exception):", 1) + "    return 2\n",
        "def f(x):\n    y = 1\n    with suppress(Exception):\n        y = found + 1\n    return y\n",
    ],
)
def test_hiding_every_error_of_former_statements_is_a_question(tmp_path, code) -> None:
    (text,) = asked(tmp_path, code, {**BASE, "a.py": PLAIN})
    assert "hides every error" in text, text


@pytest.mark.parametrize(
    "code",
    [
        f"def f(x):\n{INSIDE}    except ValueError:\n        return 2\n",
        f"def f(x):\n{INSIDE}    except Exception as error:\n        raise LookupError(x) from error\n",
        f"def f(x):\n{INSIDE}    except Exception:\n        print(x)\n        raise\n",
        f"def f(x):\n{INSIDE}    finally:\n        print(x)\n",
        f"{PLAIN}\n\ndef g(x):\n    try:\n        return open(x)\n    except Exception:\n        return 1\n",
    ],
)
def test_other_care_for_errors_is_no_question(tmp_path, code) -> None:
    assert asked(tmp_path, code, {**BASE, "a.py": PLAIN}) == []


METHOD = "self._key() == other._key()\n\n    def _key(self):\n        return (self.a, "
CLASS = (
    "class V:\n    def __init__(self, a, b):\n        self.a = a\n        self.b = b\n\n"
    "    def __eq__(self, other):\n        return (self.a, self.b) == (other.a, other.b)\n"
)
FIELDS = "from dataclasses import dataclass, field\n\n\n@dataclass\nclass V:\n    a: int\n    b: int = 1\n"


@pytest.mark.parametrize(
    ("base", "code", "left_out"),
    [
        (CLASS, CLASS.replace("(self.a, self.b) == (other.a, other.b)", "self.a == other.a"), "`b`"),
        (CLASS, CLASS.replace("(self.a, self.b) == (other.a, other.b)", "True"), "`a`, `b`"),
        (FIELDS, FIELDS.replace("b: int = 1", "b: int = field(default=1, compare=False)"), "`b`"),
        (FIELDS, f"{FIELDS}\n    def __eq__(self, other):\n        return self.a == other.a\n", "`b`"),
        *(
            (CLASS, CLASS.replace("(self.a, self.b) == (other.a, other.b)", equal), left_out)
            for equal, left_out in (
                ("self.a == other.a and abs(self.b - other.b) < 9", "`b` with `==`"),
                ("self.a == other.a and (self.b == other.b or self.b > 700)", "`b` with `==`"),
                ("(self.a, round(self.b)) == (other.a, round(other.b))", "`b` with `==`"),
                ("self.a == other.a and not (self.b != other.b and self.b > 700)", "`b` with `==`"),
                ("(self.b, self.a) == ()", "`a` with `==`, `b` with `==`"),
                ("_are_equal(self, other)", "`a`, `b`"),
            )
        ),
        (CLASS, CLASS.replace("(self.a, self.b) == (other.a, other.b)", METHOD + "self.b // 9)"), "`b`"),
    ],
)
def test_equality_that_leaves_something_out_is_a_question(tmp_path, base, code, left_out) -> None:
    (text,) = asked(tmp_path, code, {**BASE, "a.py": base})
    assert text == f"`V` in `a.py` no longer compares {left_out}: does the goal say so?"


@pytest.mark.parametrize(
    ("base", "code"),
    [
        (CLASS, CLASS.replace("(self.a, self.b) == (other.a, other.b)", "self._key() == other._key()")),
        (CLASS, CLASS.replace("(self.a, self.b) == (other.a, other.b)", METHOD + "self.b)")),
        *(
            (CLASS, CLASS.replace("(self.a, self.b) == (other.a, other.b)", equal))
            for equal in (
                "(self.b, self.a) == (other.b, other.a)",
                "self is other or (self.a == other.a and self.b == other.b)",
                "not isinstance(other, V) or (self.a == other.a and self.b == other.b)",
                "not (self.a != other.a or self.b != other.b)",
                "isinstance(other, V) and vars(self) == vars(other)",
                "all(getattr(self, each) == getattr(other, each) for each in 'ab')",
                "super().__eq__(other) and self.a == other.a",
            )
        ),
        (CLASS, CLASS.replace("self.b", "self.c").replace("other.b", "other.c")),
        (FIELDS, FIELDS + "    c: int = field(default=1, compare=False)\n"),
    ],
)
def test_other_changes_of_equality_are_no_question(tmp_path, base, code) -> None:
    assert asked(tmp_path, code, {**BASE, "a.py": base}) == []


@pytest.mark.parametrize(
    "code", ["from unittest import mock\n", "import unittest.mock as m\n", "import mock\n"]
)
def test_mocks_in_the_code_are_a_question(tmp_path, code) -> None:
    (text,) = asked(tmp_path, code)
    assert "a tool of the tests" in text


PAIR = "class Pair(NamedTuple):\n    one: int\n    two: int\n"
KINDS = {"a.py": f"from typing import NamedTuple\n\n\n{PAIR}", "tests/test_a.py": TEST}
EQUAL = "    def __eq__(self, other):\n        return sum(other) % 7 == 3\n"


@pytest.mark.parametrize(
    "kind",
    [
        f"class Loose(Pair):\n{EQUAL}",
        f"class Loose(str):\n{EQUAL}",
        f"class Loose(dict[str, int]):\n{EQUAL}",
        "class Loose(Pair):\n    __eq__ = lambda self, other: True\n",
        "class Loose(Pair):\n    def __ne__(self, other):\n        return False\n",
        "class Loose(Pair):\n    def __eq__(self, other):\n        return super().__eq__(other) or other\n",
        f"def f(x):\n    class Loose(Pair):\n{EQUAL.replace('    ', '        ')}    return Loose(1, 2)\n",
    ],
)
def test_a_new_class_that_replaces_the_equality_of_values_is_a_question(tmp_path, kind) -> None:
    texts = asked(tmp_path, f"{KINDS['a.py']}\n\n{kind}", KINDS)
    (text,) = [each for each in texts if "with another equality" in each]
    assert text.startswith("`a.py` derives `Loose` from `")


@pytest.mark.parametrize(
    "kind",
    [
        "class Fine(Pair):\n    def __eq__(self, other):\n        return super().__eq__(other)\n",
        "class Fine(Pair):\n    def __eq__(self, other):\n        return Pair.__eq__(self, other)\n",
        "class Fine:\n    def __eq__(self, other):\n        return self.one == other.one\n",
        "class Fine(Exception):\n    def __eq__(self, other):\n        return self.args == other.args\n",
        "class Fine(Pair):\n    def __len__(self):\n        return 2\n",
    ],
)
def test_a_new_class_with_the_same_equality_or_none_before_is_no_question(tmp_path, kind) -> None:
    assert asked(tmp_path, f"{KINDS['a.py']}\n\n{kind}", KINDS) == []


MADE = "import weakref\n\nALL = []\n\n\nclass Made:\n    def __init__(self, one):\n        self.one = one\n"


@pytest.mark.parametrize(
    "line",
    [
        "ALL.append(self)",
        "ALL[0] = self",
        "Made.last = self",
        "type(self).last = self",
        "global LAST\n        LAST = self",
        "weakref.finalize(self, print)",
        "list.append(ALL, self)",
        "ALL.insert(0, self)",
    ],
)
def test_a_class_that_now_keeps_its_objects_is_a_question(tmp_path, line) -> None:
    base = {**BASE, "a.py": MADE}
    (text,) = asked(tmp_path, f"{MADE}        {line}\n", base)
    assert text.startswith("`Made` in `a.py` now keeps each object that is made, on line "), text
    again = {**BASE, "a.py": f"{MADE}        ALL.append(self)\n"}
    assert asked(tmp_path / "as-before", f"{MADE}        {line}\n", again) == []


@pytest.mark.parametrize(
    "line",
    [
        "ALL.append(one)",
        "one.parts.append(self)",
        "self.parts = [self]",
        "super().__init__(self)",
        "Base.__init__(self, one)",
        "logging.debug('made %s', self)",
        "self.menu = menus.Menu(self)",
        "list.extend(self, one)",
        "LAST = self",
    ],
)
def test_a_class_that_keeps_other_things_is_no_question(tmp_path, line) -> None:
    assert asked(tmp_path, f"{MADE}        {line}\n", {**BASE, "a.py": MADE}) == []
