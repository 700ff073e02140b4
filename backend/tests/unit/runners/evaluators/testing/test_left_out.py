"""Tests that a run left out, compared with what the base did with them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app.runners.evaluators.testing.at_base.slow import SlowTests, fails_at_base, is_red_too
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.running.report import Outcome, PytestEnding, RanTest, RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.runners.evaluators.testing.sorting.goal import Goal
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.sorting.left_out import questions_about, with_left_out
from app.schemas.questions import BaseFailures

pytestmark = pytest.mark.anyio

TREE = RunTree({}, frozenset(), None)
GOAL = Goal(policy=BaseFailures.GOAL, tests=(), words="", known=())


def report(left_out: tuple[str, ...] = (), **outcomes: Outcome) -> RunReport:
    tests = {
        f"a.py::{name}": RanTest(f"a.py::{name}", outcome, 1.0, "") for name, outcome in outcomes.items()
    }
    left = tuple(f"a.py::{name}" for name in left_out)
    return RunReport(PytestEnding.COMPLETE, code=1, ids=(*tests, *left), tests=tests, left_out=left)


class RunsAgain(Harness):
    """Gives a report in which each test passes."""

    async def run(self, tree: RunTree, *, ids: Any = None, **_: Any) -> RunReport:
        return report(**{each.partition("::")[2]: Outcome.PASSED for each in ids})


async def excused(here: RunReport, there: RunReport, goal: str = "") -> Mapping[str, str]:
    async def at_base() -> RunReport:
        return there

    slow = SlowTests(RunsAgain(python=Path("python"), base=None, seconds=1), at_base)
    found = await slow.past(TREE, here, lambda name: name == goal)
    assert found is not None
    assert set(here.ids) == {*found.tests, *slow.known}
    return slow.known


async def test_what_the_base_left_out_is_excused() -> None:
    known = await excused(report(("one", "two"), zero=Outcome.PASSED), report(("one",), two=Outcome.PASSED))
    assert list(known) == ["a.py::one"]


async def test_what_fails_at_the_base_need_not_fail_again_if_the_base_is_short_of_time_too() -> None:
    known = await excused(report(("one", "two")), report(("one",), two=Outcome.FAILED))
    assert list(known) == ["a.py::one", "a.py::two"]
    assert fails_at_base(known["a.py::two"])
    assert not is_red_too(known["a.py::two"])


async def test_what_fails_at_a_base_with_time_runs() -> None:
    assert await excused(report(("one",)), report(one=Outcome.FAILED)) == {}


async def test_a_test_of_the_goal_runs() -> None:
    known = await excused(report(("one", "two")), report(("one",), two=Outcome.FAILED), goal="a.py::two")
    assert list(known) == ["a.py::one"]


async def test_a_person_is_asked_about_tests_that_fail_at_the_base_and_did_not_run() -> None:
    known = await excused(report(("one", "two")), report(("one",), two=Outcome.FAILED))
    left_out = {"a.py::two": known["a.py::two"]}
    judged = with_left_out(JudgedRun(of_base=report(), left_out=left_out), GOAL)
    (question,) = questions_about(judged)
    assert "there is no time, and they fail at the base" in question.text
