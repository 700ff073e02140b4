"""The test gate says what its tests prove, and fails code that they cannot fail."""

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.schemas.modes import CounterTestsMode

pytestmark = pytest.mark.anyio

TESTS = {"tests/test_calc.py": "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"}
BASE = {**TESTS, "calc.py": "def add(a, b):\n    raise NotImplementedError\n"}
HONEST = {**TESTS, "calc.py": "def add(a, b):\n    return a + b\n"}
FORGED = {
    **TESTS,
    "calc.py": "class Any:\n    __eq__ = lambda self, other: True\n\ndef add(a, b):\n    return Any()\n",
}


VERSION = """class Version:
    def __init__(self, major, build):
        self.major, self.build = major, build

    def __eq__(self, other):
        return self.major == other["major"]


def parse(text):
    """
PARSED = {
    "tests/test_version.py": "from version import parse\n\n\ndef test_parse():\n"
    "    assert parse('1+5') == {'major': 1, 'build': 5}\n"
}


async def judged(context, files, mode: CounterTestsMode, base=BASE):
    evaluator = PytestEvaluator(counter_tests=mode, outside=False)
    return await evaluator.evaluate("coding", "", context(files, base))


async def test_a_pass_says_how_much_is_proven(context) -> None:
    result = await judged(context, HONEST, CounterTestsMode.GATE)
    assert result.status == "passed"
    assert "Proven: 1 of 1 base test" in result.feedback
    assert result.metadata["counter_tests"]["proven"] == 1


async def test_code_that_its_tests_cannot_fail_does_not_pass(context) -> None:
    result = await judged(context, FORGED, CounterTestsMode.GATE)
    assert result.status == "failed"
    assert [each.criterion for each in result.criteria if not each.passed] == ["tests_notice"]
    assert "tests/test_calc.py::test_add: line 4 (`assert add(1, 2) == 3`) passes with" in result.feedback


@pytest.mark.parametrize("_", range(4))
async def test_objects_of_the_base_may_be_equal_though_a_part_differs(context, _: int) -> None:
    base = {**PARSED, "version.py": f"{VERSION}raise NotImplementedError\n"}
    honest = {**PARSED, "version.py": f"{VERSION}return Version(*map(int, text.split('+')))\n"}
    result = await judged(context, honest, CounterTestsMode.GATE, base)
    assert result.status == "passed", result.feedback


async def test_objects_that_equal_whatever_they_are_compared_with_do_not_pass(context) -> None:
    base = {**PARSED, "version.py": f"{VERSION}raise NotImplementedError\n"}
    forged = {**PARSED, "version.py": f"{VERSION}return type('V', (), {{'__eq__': lambda a, b: True}})()\n"}
    result = await judged(context, forged, CounterTestsMode.GATE, base)
    assert result.metadata["counter_tests"]["refuted"], result.feedback


async def test_an_operator_may_have_it_only_told(context) -> None:
    result = await judged(context, FORGED, CounterTestsMode.NOTE)
    assert result.status == "passed"
    assert "1 test of the base cannot fail" in result.feedback


async def test_an_operator_may_not_ask(context) -> None:
    result = await judged(context, FORGED, CounterTestsMode.OFF)
    assert result.status == "passed"
    assert "counter_tests" not in result.metadata
