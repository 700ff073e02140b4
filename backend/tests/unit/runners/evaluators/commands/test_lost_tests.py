"""A test of the base must still run. Names that differ from run to run are no removed tests."""

from collections.abc import Sequence

import pytest

from app.runners.evaluators.commands.command import CommandEvaluator
from app.runners.evaluators.commands.junit import Case, JUnit, JUnitOutcome
from app.runners.evaluators.commands.lost_tests import lost_tests
from app.schemas.project_file import JUnitReport
from tests.unit.runners.evaluators.conftest import Context


def ran(ids: Sequence[str], outcome: JUnitOutcome = JUnitOutcome.PASSED) -> JUnit:
    return JUnit(tuple(Case(each, outcome) for each in ids))


RENAMED = {
    "pytest's parameters": (["t > test_a[x1]", "t > test_a[q]"], ["t > test_a[x2]", "t > test_a[q]"]),
    "a list as parameter": (["t > test_a[[1, 2] > 3]"], ["t > test_a[[8, 9] > 3]"]),
    "an address": (["a.js > <A at 0x7f01>"], ["a.js > <A at 0x7f1c>"]),
    "the time": (["a.js > adds 1718000000000"], ["a.js > adds 1718000009999"]),
    "a date": (["a.js > at 2026-01-01T10:00:01.123Z"], ["a.js > at 2026-01-01T10:07:01.5Z"]),
    "a UUID": (
        ["a > of 0b3f1d3e-7a52-4f5c-9d7a-1d2f3a4b5c6d"],
        ["a > of f0c1a2b3-1111-4abc-8def-0123456789ab"],
    ),
    "a row of Gradle": (["com.PriceTest > [1] kx", "com.PriceTest > a"], ["com.PriceTest > [1] zz"] * 2),
    "a subtest of Go": (["m/a > TestOne", "m/a > TestOne/k9"], ["m/a > TestOne", "m/a > TestOne/x"]),
}


@pytest.mark.parametrize(("base", "now"), RENAMED.values(), ids=RENAMED.keys())
def test_a_row_may_be_renamed(base: list[str], now: list[str]) -> None:
    expected = [each for each in base if each.endswith(" > a")]
    assert lost_tests(ran(now), ran(base)) == expected


LOST = {
    "a test": (["a > one", "a > two"], ["a > one"], ["a > two"]),
    "a test, and another one is new": (["a > one"], ["a > two"], ["a > one"]),
    "numbered tests": (["a > test1"], ["a > test2"], ["a > test1"]),
    "a test in another suite": (["a > sub > x 1"], ["b > sub > x 2"], ["a > sub > x 1"]),
    "a row": (["t > f[1]", "t > f[2]"], ["t > f[3]"], ["t > f[1]", "t > f[2]"]),
    "a row of another function": (["t > f[1]"], ["t > g[1]"], ["t > f[1]"]),
    "one of two equal ids": (["a > x", "a > x"], ["a > x", "a > y"], ["a > x"]),
    "both of two equal ids": (["a > x 1", "a > x 1"], ["a > x 2"], ["a > x 1"]),
    "a subtest": (["m/a > TestOne/a", "m/a > TestOne/b"], ["m/a > TestOne/a"], ["m/a > TestOne/b"]),
}


@pytest.mark.parametrize(("base", "now", "lost"), LOST.values(), ids=LOST.keys())
def test_a_removed_test_is_noticed(base: list[str], now: list[str], lost: list[str]) -> None:
    assert lost_tests(ran(now), ran(base)) == lost


def test_a_new_row_must_run() -> None:
    assert lost_tests(ran(["t > f[2]"], JUnitOutcome.SKIPPED), ran(["t > f[1]"])) == ["t > f[1]"]


@pytest.mark.anyio
async def test_a_value_that_differs_from_run_to_run_costs_no_verdict(context: Context) -> None:
    case = "<testsuite><testcase classname='a' name='x[$(cat /proc/sys/kernel/random/uuid)]'/></testsuite>"
    gate = CommandEvaluator(
        name="unit",
        command=f'echo "{case}" > report.xml',
        report=JUnitReport(kind="junit", path="report.xml"),
    )
    result = await gate.evaluate("coding", "", context({"a": ""}, {"a": ""}))
    assert result.passed, result.feedback
