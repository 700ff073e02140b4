"""Tests that take too long at the base as well are left out, named, and never simply forgotten."""

import asyncio
import sys
from pathlib import Path

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.runners.evaluators.protocol import EvaluationResult, EvaluationStatus
from app.runners.evaluators.testing.layout.trees import whole_tree
from app.runners.evaluators.testing.running.run import Harness
from app.schemas.questions import BaseFailures
from tests.unit.runners.evaluators.testing.gate_support import CODE, TEST, run

pytestmark = pytest.mark.anyio

LIMIT = 4.0
"""A run may take five times as long, and on a busy machine twenty times."""

SLOW = """import time

import pytest

from calc import add

@pytest.mark.parametrize("number", range(400))
def test_slowly(number):
    time.sleep(0.9)
    assert add(number, 1) == number + 1
"""
ROWS = """import time

import pytest

from calc import add

@pytest.mark.parametrize("kind", ["memory", "network"])
@pytest.mark.parametrize("number", range(40))
def test_kind(number, kind):
    if kind == "network":
        time.sleep(0.9)
        raise ConnectionRefusedError("no service listens")
    assert add(number, 1) == number + 1
"""
MODULE_FIXTURE = """import time

import pytest

from calc import add

@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("place")
    yield place
    (place / "closed").touch()

@pytest.mark.parametrize("number", range(400))
def test_slowly(place, number):
    time.sleep(0.9)
    assert not (place / "closed").exists()
"""
AFTER = "from calc import add\n\ndef test_after():\n    assert add(2, 2) == 4\n"


async def judged(context, candidate=None, *, slow=SLOW, goal: str = "", **options) -> EvaluationResult:
    base = {**CODE, **TEST, "tests/test_slow.py": slow, "tests/test_zero.py": AFTER}
    given = context({**base, **(candidate or {})}, base)
    options = {"timeout": LIMIT, "counter_tests": "off", "outside": False, **options}
    return await PytestEvaluator(**options).evaluate("coding", "", {**given, "goal": goal})


def about(result: EvaluationResult, part: str) -> list[str]:
    return [each for each in result.feedback.splitlines() if part in each]


async def test_slow_tests_are_one_question_and_the_others_are_judged(context) -> None:
    result = await judged(context)
    assert result.status is EvaluationStatus.FAILED
    assert [each.id for each in result.questions] == ["tests/test_slow.py"]
    assert "the base has no time for them either" in result.questions[0].text
    assert about(result, "tests of tests/test_slow.py did not run")
    assert result.metadata["left_out"] > 20


async def test_what_shared_a_fixture_is_torn_down_before_the_next_file(context) -> None:
    result = await judged(context, slow=MODULE_FIXTURE)
    assert [each.id for each in result.questions] == ["tests/test_slow.py"], result.feedback
    assert result.metadata["failed_tests"] == 0


async def test_new_tests_like_those_that_the_base_leaves_out_are_left_out_with_them(context) -> None:
    more = (
        SLOW
        + "\n@pytest.mark.parametrize('number', range(400))\ndef test_more(number):\n    time.sleep(0.9)\n"
    )
    result = await judged(context, {"tests/test_slow.py": more})
    assert [each.id for each in result.questions] == ["tests/test_slow.py"], result.feedback
    assert result.metadata["left_out"] > 80


async def test_nothing_is_left_behind_if_the_last_file_is_left_out(context) -> None:
    base = {**CODE, **TEST, "tests/test_slow.py": MODULE_FIXTURE}
    result = await run(context, base, base, timeout=LIMIT, counter_tests="off", outside=False)
    assert [each.id for each in result.questions] == ["tests/test_slow.py"], result.feedback
    assert result.metadata["forged"] == []


async def test_a_fault_beside_slow_tests_still_fails(context) -> None:
    wrong = {"tests/test_zero.py": AFTER, "calc.py": "def add(a, b):\n    return a + b if a != b else 0\n"}
    result = await judged(context, wrong)
    assert result.status is EvaluationStatus.FAILED
    assert not result.questions
    assert about(result, "test_after")


async def test_code_that_is_slow_where_the_base_is_not_is_waited_for(context) -> None:
    base = {**CODE, "tests/test_all.py": SLOW.replace("time.sleep(0.9)", "pass").replace("400", "20")}
    slow = {**base, "calc.py": "import time\n\ndef add(a, b):\n    time.sleep(0.9)\n    return a + b\n"}
    result = await run(context, slow, base, timeout=3.0, counter_tests="off", outside=False)
    assert not result.questions
    assert "left_out" not in result.metadata


@pytest.mark.parametrize(
    ("policy", "status", "asked"),
    [(BaseFailures.MUST_PASS, "failed", False), (BaseFailures.IGNORE, "passed", False)],
)
async def test_the_policy_says_whether_slow_tests_count(context, policy, status, asked) -> None:
    result = await judged(context, base_failures=policy)
    assert (result.status, bool(result.questions)) == (status, asked), result.feedback
    assert about(result, "tests of tests/test_slow.py did not run")


async def test_a_test_of_the_goal_is_never_left_out(context) -> None:
    result = await judged(context, goal="Make test_slowly quick", timeout=3.0)
    assert result.status is not EvaluationStatus.PASSED
    assert not result.questions


async def test_rows_that_wait_are_left_out_and_the_others_run(context) -> None:
    result = await judged(context, slow=ROWS)
    assert result.metadata["passed_tests"] == 42, result.feedback
    assert about(result, "and tests like them fail there")


async def test_many_small_files_that_do_not_fit_together_are_one_question(context) -> None:
    slow = "import time\n\ndef test_waits():\n    time.sleep(1.5)\n"
    base = {**CODE, **TEST, **{f"tests/test_{number}.py": slow for number in range(40)}}
    # A limit that a context names is not stretched on a busy machine. It leaves time to start and to end.
    given = {**context(base, base), "limits": {"seconds": 40.0}}
    evaluator = PytestEvaluator(counter_tests="off", outside=False)
    result = await evaluator.evaluate("coding", "", given)
    assert [each.id for each in result.questions] == ["tests"], result.feedback
    assert "did not run, because the base has no time for them either" in result.questions[0].text
    assert result.metadata["passed_tests"] > 0
    assert result.metadata["left_out"] > 3


async def test_the_control_begins_as_soon_as_a_shortage_is_foreseen(tmp_path: Path) -> None:
    rows = "import time\n\nimport pytest\n\n@pytest.mark.parametrize('number', range({count}))\n" + (
        "def test_number(number):\n    time.sleep({seconds})\n"
    )
    # The first file is done when a shortage is foreseen, so none of its tests is left out.
    (tmp_path / "test_a.py").write_text(rows.format(count=2, seconds=4))
    (tmp_path / "test_b.py").write_text(rows.format(count=80, seconds=0))
    harness = Harness(python=Path(sys.executable), base=tmp_path, seconds=30, patience=30, leaves_out=True)
    short = asyncio.Event()
    await harness.run(whole_tree(tmp_path), short=short)
    assert short.is_set()
