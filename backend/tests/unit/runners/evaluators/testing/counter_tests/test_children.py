"""Wrong assertions in the processes that tests start: a test that notices none is a question."""

import ast
from collections.abc import Collection, Mapping
from random import Random
from typing import Any, cast

import pytest

from app.runners.evaluators.testing.counter_tests.child_check import ChildCheck
from app.runners.evaluators.testing.counter_tests.child_code import asserts
from app.runners.evaluators.testing.counter_tests.children import with_wrong_assertions
from app.runners.evaluators.testing.counter_tests.comparing import CounterTestOutcome, CounterTestResult
from app.runners.evaluators.testing.counter_tests.drawing import WrongExpectation, draw, units_of
from app.runners.evaluators.testing.counter_tests.pairs import NO_PAIR, Pair
from app.runners.evaluators.testing.counter_tests.reading import read_test_file
from app.runners.evaluators.testing.layout.trees import RunTree
from tests.unit.runners.evaluators.testing.gate_support import run

CODE = """import subprocess
import sys
from pathlib import Path

from calc import add

HERE = Path(__file__).parent


def start(*words):
    done = subprocess.run([sys.executable, *words], cwd=HERE.parent, capture_output=True, text=True)
    return done.returncode, done.stdout


def test_code():
    assert start("-c", "from calc import add; assert add(1, 2) == 3; print('fine')") == (0, "fine\\n")


def test_script():
    assert start(str(HERE / "script.py"))[0] == 0


def test_module():
    assert start("-m", "unittest", "-q", "tests.checks")[0] == 0
"""
BASE = {
    "calc.py": "def add(a, b):\n    raise NotImplementedError\n",
    "tests/__init__.py": "",
    "tests/script.py": "from calc import add\n\nassert add(2, 2) == 4\n",
    "tests/checks.py": "import unittest\n\nfrom calc import add\n\n\nclass Checks(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(add(3, 4), 7)\n",
    "tests/test_calc.py": CODE,
}
ADD = "def add(a, b):\n    return a + b\n"


@pytest.mark.parametrize(
    "code",
    [
        "assert f(1) == 'XIV'",
        "import x; assert [x.f(n) for n in (1, 14)] == ['I', 'XIV']; print('ok')",
        "class T(C):\n    def test(self):\n        self.assertEqual(f(3), {'a': 1})\n",
        "    assert f() == -2.5\n    assert b'' == f()\n    assert 7 == f()\n",
    ],
)
def test_every_assertion_of_code_is_made_wrong(code) -> None:
    assert asserts(code.encode())
    changed = with_wrong_assertions(code.encode(), Random(1))
    assert changed is not None
    assert changed.decode().replace(" ", "") != code.replace(" ", "")
    ast.parse(changed)


@pytest.mark.parametrize("code", ["print('assert')", "assert f(1)", "assert", "assert f(1) == g(2)", "x = 1"])
def test_code_without_such_assertions_is_left_alone(code) -> None:
    assert not asserts(code.encode())


@pytest.mark.anyio
@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            "import os\nimport sys\n\nif 'pytest' not in sys.modules:\n    if sys.argv[0] == '-c':\n"
            "        print('fine', flush=True)\n    os._exit(0)\n\n\n" + ADD.replace("a + b", "0"),
            id="the process ends early",
        ),
        pytest.param(
            "class Same(int):\n    def __eq__(self, other):\n        return True\n\n\n"
            "def add(a, b):\n    return Same(0)\n",
            id="the result equals everything",
        ),
    ],
)
async def test_a_process_that_says_nothing_is_a_question(context, code) -> None:
    result = await run(context, {**BASE, "calc.py": code}, BASE, outside=False)
    assert result.status == "failed", result.feedback
    silent = [each.text for each in result.questions if "says nothing about the code" in each.text]
    assert len(silent) == 1, result.feedback
    assert set(result.metadata["counter_tests"]["doubted"]) == {
        f"tests/test_calc.py::test_{each}" for each in ("code", "script", "module")
    }


@pytest.mark.anyio
async def test_work_is_asked_nothing(context) -> None:
    result = await run(context, {**BASE, "calc.py": ADD}, BASE, outside=False)
    assert (result.status, result.questions) == ("passed", []), result.feedback


@pytest.mark.anyio
async def test_a_test_that_never_looks_at_its_process_is_no_question(context) -> None:
    careless = {
        **BASE,
        "tests/test_calc.py": CODE.partition("def test_code")[0]
        + "def test_careless():\n    start('-c', 'from calc import add; assert add(1, 2) == 4')\n"
        "    assert add(1, 1) == 2\n",
    }
    result = await run(context, {**careless, "calc.py": ADD}, careless, outside=False)
    assert (result.status, result.questions) == ("passed", []), result.feedback


class Runs:
    """Pairs of runs with given outcomes, one after the other; the base's code notices."""

    def __init__(self, change: WrongExpectation, *outcomes: CounterTestOutcome) -> None:
        self.change = change
        self.left = list(outcomes)

    async def pair(self, units: object, wanted: Collection[str], before: object, make: object) -> Pair:
        outcome = self.left.pop(0)
        return Pair(
            NO_PAIR.versions, {each: CounterTestResult(each, self.change, outcome) for each in wanted}
        )

    async def honest(
        self, pair: Pair, suspected: Mapping[str, CounterTestResult]
    ) -> dict[str, CounterTestResult]:
        return {each: CounterTestResult(each, self.change, CounterTestOutcome.NOTICED) for each in suspected}


UNNOTICED, NOTICED, SILENT = (
    CounterTestOutcome.UNNOTICED,
    CounterTestOutcome.NOTICED,
    CounterTestOutcome.SILENT,
)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("outcomes", "is_doubted"),
    [
        pytest.param((UNNOTICED, UNNOTICED, NOTICED), True, id="two changes"),
        pytest.param((SILENT, UNNOTICED, UNNOTICED, NOTICED), True, id="the first pair came too late"),
        pytest.param((UNNOTICED, SILENT, UNNOTICED, SILENT, NOTICED), True, id="two came too late"),
        pytest.param((UNNOTICED, NOTICED), False, id="it notices"),
        pytest.param((SILENT, SILENT, SILENT, SILENT), False, id="nothing is known"),
        pytest.param((UNNOTICED, UNNOTICED, SILENT, SILENT), False, id="an end says nothing either"),
    ],
)
async def test_a_pair_without_an_answer_is_repeated(outcomes, is_doubted) -> None:
    child = 'def test_a():\n    assert subprocess.run(["python", "-c", "assert f() == 1"]) == 0\n'
    file = read_test_file("test_a.py", child.encode())
    assert file is not None
    units = units_of([file], ["test_a.py::test_a"])
    change = draw(units[0], Random(1), units[0].tests, {})[0]
    runs = Runs(change, *outcomes)
    check = ChildCheck(RunTree({}, frozenset()), Random(1), runs.pair, runs.honest, cast("Any", None))
    doubted = await check.doubted(units, units[0].tests)
    assert bool(doubted) is is_doubted
    assert runs.left == []
