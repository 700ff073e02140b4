"""What is asked if no test of the base passes."""

from pathlib import Path

import pytest

from app.runners.evaluators.testing.layout.touched import Touched
from app.runners.evaluators.testing.running.base_code import BaseCode
from app.runners.evaluators.testing.running.report import (
    CollectProblem,
    Outcome,
    PytestEnding,
    RanTest,
    RunReport,
)
from app.runners.evaluators.testing.sorting.all_red import about_all_red
from app.runners.evaluators.testing.sorting.goal import Goal
from app.runners.evaluators.testing.sorting.second_look import SecondLook
from app.schemas.questions import BaseFailures
from tests.unit.runners.evaluators.testing.red_support import NAME, TO_COME, WRONG_VALUE, written

REFUSED = "/env/site-packages/redis/connection.py:363: redis.ConnectionError: Connection refused"


def all_red(
    goal: Goal, here: str, there: str | None, tmp_path: Path, touched: Touched | None = None, **others: str
):
    written(tmp_path, "calc.py", "")
    tests = {NAME: RanTest(NAME, Outcome.FAILED, 0.1, here, files=("calc.py",))}
    tests |= {name: RanTest(name, Outcome(outcome), 0.1, "") for name, outcome in others.items()}
    problem = CollectProblem("tests/test_b.py", skipped=False, message=REFUSED)
    report = RunReport(PytestEnding.COMPLETE, code=1, ids=tuple(tests), tests=tests, problems=(problem,))
    red = {} if there is None else {NAME: there}
    second = SecondLook(red=red, red_files=dict.fromkeys(red, ("calc.py",)))
    unreadable = {"tests/test_b.py": REFUSED}
    return about_all_red(report, second, unreadable, goal, BaseCode(tmp_path, ["calc.py"]), touched)


def test_a_suite_that_cannot_run_here_is_one_question(tmp_path: Path) -> None:
    question = all_red(Goal(words="Drop 3.8"), REFUSED, REFUSED, tmp_path)
    assert question is not None
    assert "No test of the base passes here" in question.text
    assert "Connection refused" in question.why


def test_known_failures_alone_are_a_question_too(tmp_path: Path) -> None:
    assert all_red(Goal(words="Drop 3.8", known=[NAME]), REFUSED, REFUSED, tmp_path) is not None


@pytest.mark.parametrize(
    ("goal", "here", "there", "others"),
    [
        pytest.param(Goal(words="Drop 3.8"), REFUSED, REFUSED, {"t.py::test_b": "passed"}, id="one passes"),
        pytest.param(Goal(words="Drop 3.8"), "a.py:1: KeyError: 1", REFUSED, {}, id="it fails otherwise"),
        pytest.param(Goal(words="Drop 3.8"), REFUSED, None, {}, id="the base passes it"),
        pytest.param(Goal(words="Drop 3.8"), TO_COME, TO_COME, {}, id="it waits for code"),
        pytest.param(Goal(words="Drop 3.8"), WRONG_VALUE, WRONG_VALUE, {}, id="the project's own code fails"),
        pytest.param(Goal(words="Make the tests pass"), TO_COME, TO_COME, {}, id="the goal is about tests"),
        pytest.param(Goal(tests=["x"], words="Drop 3.8"), REFUSED, REFUSED, {}, id="the goal names tests"),
        pytest.param(Goal(BaseFailures.MUST_PASS, words="x"), REFUSED, REFUSED, {}, id="all must pass"),
    ],
)
def test_a_red_suite_counts_where_the_change_or_the_goal_may_be_the_cause(
    goal: Goal, here: str, there: str | None, others: dict[str, str], tmp_path: Path
) -> None:
    assert all_red(goal, here, there, tmp_path, **others) is None


NO_BACKEND = "calc.py:131: calc.NoBackendError"


@pytest.mark.parametrize(
    ("message", "changed", "asked"),
    [
        pytest.param(NO_BACKEND, "raw.py", True, id="the change is elsewhere"),
        pytest.param(NO_BACKEND, "calc.py", False, id="the change is on the way to the error"),
        pytest.param(WRONG_VALUE, "raw.py", False, id="a wrong value may come from anywhere"),
        pytest.param("calc.py:9: NotImplementedError", "raw.py", False, id="code is still to be written"),
    ],
)
def test_a_suite_that_the_project_itself_cannot_run_here_is_one_question(
    message: str, changed: str, asked: bool, tmp_path: Path
) -> None:
    touched = Touched(tmp_path, frozenset({changed}))
    assert (all_red(Goal(words="Drop 3.8"), message, message, tmp_path, touched) is not None) is asked
