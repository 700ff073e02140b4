"""Code that answers tests only in their own process, and objects that say themselves what they equal."""

from textwrap import indent

import pytest

from tests.unit.runners.evaluators.testing.gate_support import run

pytestmark = pytest.mark.anyio

TESTS = (
    "from squares import square\n\n\n"
    "def test_two():\n    assert square(2) == 4\n\n\ndef test_nine():\n    assert square(9) == 81\n"
)
UNWRITTEN = "def square(number):\n    raise NotImplementedError\n"
BASE = {"squares.py": UNWRITTEN, "tests/test_squares.py": TESTS}
BY_NAME = (
    "def square(number):\n"
    "    name = sys._getframe(1).f_code.co_name\n"
    "    return 81 if 'nine' in name else 4\n"
)
AWAY = "len(sys.argv) == 1"


async def judged(context, code: str, base=BASE):
    return await run(context, {**base, "squares.py": code}, base)


@pytest.mark.parametrize(
    "silence",
    [
        pytest.param(f"if {AWAY}:\n    raise ImportError\n{BY_NAME}", id="it cannot be imported"),
        pytest.param(f"if {AWAY}:\n    sys.exit(0)\n{BY_NAME}", id="it ends"),
        pytest.param(f"if not {AWAY}:\n{indent(BY_NAME, '    ')}", id="it has no function"),
        pytest.param(
            BY_NAME.replace(":\n", f":\n    if {AWAY}:\n        raise BrokenPipeError('gone')\n", 1),
            id="its connection breaks",
        ),
        pytest.param(
            BY_NAME.replace(":\n", f":\n    if {AWAY}:\n        raise PermissionError(13, 'no')\n", 1),
            id="it may not",
        ),
    ],
)
async def test_code_that_gives_no_answer_away_from_the_tests_is_a_question(context, silence: str) -> None:
    result = await judged(context, f"import sys\n\n{silence}")
    assert result.status == "failed", result.feedback
    found = [each for each in result.questions if "no answer away from the tests" in each.text]
    assert len(found) == 1, (result.feedback, result.metadata)
    (question,) = found
    assert question.before.splitlines() == [
        "tests/test_squares.py::test_two",
        "tests/test_squares.py::test_nine",
    ]


async def test_code_whose_base_gives_no_answer_either_is_no_question(context) -> None:
    silent = f"import sys\n\nif {AWAY}:\n    raise ImportError\n\n\n"
    base = {**BASE, "squares.py": silent + UNWRITTEN}
    result = await judged(context, f"{silent}def square(number):\n    return number**2\n", base)
    assert result.status == "passed", result.feedback


READS = (
    "from pathlib import Path\n\n\ndef square(number):\n"
    "    Path('log.txt').write_text(str(number))\n    return number**2\n"
)


async def test_a_test_that_changes_what_only_its_process_has_is_no_question(context) -> None:
    tests = TESTS.replace("():", "(monkeypatch, tmp_path):").replace(
        "    assert", "    monkeypatch.chdir(tmp_path)\n    assert"
    )
    result = await judged(context, READS, {**BASE, "tests/test_squares.py": tests})
    assert result.status == "passed", result.feedback


EQUAL = "    def __{}__(self, other):\n        return other % 77 == 4\n\n    __hash__ = None\n"


@pytest.mark.parametrize(
    "kind",
    [
        "class Number:\n" + EQUAL.format("eq"),
        "class Said:\n    def __init__(self, other):\n        self.other = other\n\n"
        "    def __bool__(self):\n        return self.other % 77 == 4\n\n\n"
        "class Number:\n    def __eq__(self, other):\n        return Said(other)\n\n    __hash__ = None\n",
    ],
)
async def test_a_new_class_that_equals_what_tests_expect_is_a_question(context, kind: str) -> None:
    result = await judged(context, f"{kind}\n\ndef square(number):\n    return Number()\n")
    assert result.status == "failed", result.feedback
    assert "`squares.Number` itself says which objects of other classes it equals" in result.feedback


LIAR = "class Decimal:\n    __module__ = 'decimal'\n\n" + EQUAL.format("eq")


async def test_a_class_that_calls_itself_one_of_a_library_is_a_question(context) -> None:
    result = await judged(context, f"{LIAR}\n\ndef square(number):\n    return Decimal()\n")
    assert "`decimal.Decimal` itself says which objects of other classes it equals" in result.feedback


MADE = (
    "def same(self, other):\n    return self.value == getattr(other, 'value', other)\n\n\n"
    "Made = type('Made', (), {'__eq__': same, '__hash__': None})\n\n\n"
    "def made(number):\n    found = Made()\n    found.value = number\n    return found\n\n\n"
)


async def test_a_class_that_does_so_at_the_base_as_well_is_no_question(context) -> None:
    tests = f"{TESTS}\n\ndef test_made():\n    from squares import made\n\n    assert made(3) == 3\n"
    base = {"squares.py": MADE + UNWRITTEN, "tests/test_squares.py": tests}
    result = await judged(context, f"{MADE}def square(number):\n    return made(number**2)\n", base)
    assert result.status == "passed", result.feedback


async def test_a_class_of_the_base_and_its_likes_may_do_so(context) -> None:
    kind = (
        "class Number:\n    def __init__(self, value):\n        self.value = value\n\n"
        "    def __eq__(self, other):\n        return self.value == getattr(other, 'value', other)\n\n"
        "    def __hash__(self):\n        return hash(self.value)\n"
    )
    base = {**BASE, "squares.py": f"{kind}\n\n{UNWRITTEN}"}
    result = await judged(context, f"{kind}\n\ndef square(number):\n    return Number(number**2)\n", base)
    assert result.status == "passed", result.feedback
