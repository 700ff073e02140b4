"""Two runs read as one, and when failing tests are nobody's fault."""

from dataclasses import replace

import pytest

from app.runners.evaluators.protocol import EvaluationResult
from app.runners.evaluators.testing.feedback import result_of
from app.runners.evaluators.testing.gate import PytestEvaluator
from app.runners.evaluators.testing.pytest_outside.outside_report import OutsideReport
from app.runners.evaluators.testing.running.report import (
    CollectProblem,
    Outcome,
    PytestEnding,
    RanTest,
    RunReport,
)
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.sorting.second_look import SecondLook
from app.schemas.modes import InProcessOnly
from app.schemas.questions import Question, QuestionKind


def ran(ending: PytestEnding = PytestEnding.COMPLETE, code: int = 0, **outcomes: str) -> RunReport:
    tests = {name: RanTest(name, Outcome(outcome), 0.1, "") for name, outcome in outcomes.items()}
    return RunReport(ending, code=code, ids=tuple(tests), tests=tests)


@pytest.mark.parametrize(
    ("base", "own", "outcome"),
    [
        pytest.param("passed", "passed", Outcome.PASSED, id="both"),
        pytest.param("passed", "failed", Outcome.FAILED, id="fails in its own tree"),
        pytest.param("failed", "passed", Outcome.FAILED, id="fails in the base's setting"),
        pytest.param("passed", "skipped", Outcome.PASSED, id="skipped in its own tree"),
    ],
)
def test_a_test_of_both_runs_is_as_good_as_the_worse(base: str, own: str, outcome: Outcome) -> None:
    report = JudgedRun(of_base=ran(a=base), own=ran(a=own, b="passed")).report
    assert report.tests["a"].outcome is outcome
    assert report.ids == ("a", "b")


def test_an_end_that_is_not_whole_shows() -> None:
    assert JudgedRun(of_base=ran(a="passed"), own=ran(PytestEnding.TORN)).report.ending is PytestEnding.TORN
    assert (
        JudgedRun(of_base=ran(PytestEnding.TIMED_OUT), own=ran(PytestEnding.TORN)).report.ending
        is PytestEnding.TIMED_OUT
    )


@pytest.mark.parametrize(
    ("second", "excused"),
    [
        pytest.param(SecondLook(), False, id="nothing known"),
        pytest.param(SecondLook(flaky=("a", "b")), False, id="flaky here only"),
        pytest.param(SecondLook(at_base=("a", "b")), False, id="at base, too"),
        pytest.param(SecondLook(flaky_at_base=("a",)), False, id="one of two"),
        pytest.param(SecondLook(flaky_at_base=("a",), environment={"b": "no network"}), True, id="each"),
    ],
)
def test_failures_are_excused_only_when_each_is(second: SecondLook, excused: bool) -> None:
    assert second.excuses(ran(a="failed", b="failed", c="passed")) is excused
    assert not second.excuses(ran(c="passed"))


def test_an_excuse_counts_only_when_nothing_else_speaks_against_a_pass() -> None:
    base = ran(a="failed")
    broken = RunReport(PytestEnding.COMPLETE, problems=(CollectProblem("t.py", skipped=False, message=""),))
    assert JudgedRun(of_base=base, own=ran(b="passed")).hangs_on(base)
    for other in (ran(b="failed"), ran(PytestEnding.TORN), broken):
        assert not JudgedRun(of_base=base, own=other).hangs_on(base)
    assert not JudgedRun(of_base=base, lost=["x"]).hangs_on(base)
    assert not JudgedRun(of_base=base, replaced=["x"]).hangs_on(base)


def failing(message: str, *others: str) -> RunReport:
    tests = {"a": RanTest("a", Outcome.FAILED, 0.1, message), **ran(**dict.fromkeys(others, "passed")).tests}
    return RunReport(PytestEnding.COMPLETE, code=1, ids=tuple(tests), tests=tests)


def test_a_failure_that_both_versions_of_a_test_have_is_the_base_s_to_judge() -> None:
    message = "t.py:7: AssertionError: assert 3 == 4"
    both = JudgedRun(
        of_base=failing(message), own=failing(message.replace(":7:", ":9:"), "b")
    ).counting_once()
    assert both.own is not None
    assert (both.own.failures, both.own.code, both.own.ids) == ((), 0, ("b",))
    assert both.of_base is not None
    assert [each.id for each in both.of_base.failures] == ["a"]


@pytest.mark.parametrize(("one", "other"), [("", "t.py:7: KeyError: 'a'"), ("t.py:7: KeyError: 'a'", "")])
def test_a_failure_that_a_run_does_not_describe_is_that_of_the_other_version(one: str, other: str) -> None:
    both = JudgedRun(of_base=failing(one), own=failing(other)).counting_once()
    assert both.own is not None
    assert not both.own.failures


@pytest.mark.parametrize(
    ("of_base", "counts"),
    [
        pytest.param(ran(a="passed", b="passed"), False, id="the base's version passed"),
        pytest.param(ran(a="skipped", b="passed"), True, id="the base's version was skipped"),
        pytest.param(ran(b="passed"), True, id="a new test"),
    ],
)
def test_a_flaky_failure_of_a_test_that_the_base_has_does_not_count(
    of_base: RunReport, *, counts: bool
) -> None:
    judged = JudgedRun(of_base=of_base, own=failing("timed out", "b"), second=SecondLook(flaky=("a",)))
    own = judged.counting_once().own
    assert own is not None
    assert bool(own.failures) is counts


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(failing("t.py:7: KeyError: 'a'"), id="for another reason"),
        pytest.param(ran(a="passed"), id="only the candidate's version"),
        pytest.param(ran(b="failed"), id="a new test"),
    ],
)
def test_any_other_failure_of_the_candidate_s_tests_counts(other: RunReport) -> None:
    judged = JudgedRun(of_base=other, own=failing("t.py:7: AssertionError: assert 3 == 4"))
    assert judged.counting_once() == judged
    assert replace(judged, of_base=None).counting_once().own == judged.own


ASKED = Question.about("calc.py", QuestionKind.DOUBTFUL, "May `calc.py` do so?")


@pytest.mark.parametrize(
    ("outside", "line"),
    [
        pytest.param(None, f"A person is asked: {ASKED.text}", id="all else holds"),
        pytest.param(
            OutsideReport(disagrees={"a": "it fails there"}),
            f"If that is mended, a person is asked: {ASKED.text}",
            id="a test fails away from the code",
        ),
    ],
)
def test_a_question_is_worded_once_and_by_when_it_is_asked(outside: OutsideReport | None, line: str) -> None:
    base = replace(ran(a="passed"), canaries_ran=True)
    judged = JudgedRun(of_base=base, doubtful=[ASKED.text], questions=(ASKED,), outside=outside)
    found = result_of(PytestEvaluator(), judged)
    assert not found.passed
    assert bool(found.questions) is (outside is None)
    assert line in found.feedback.splitlines()
    assert found.feedback.count(ASKED.text) == 1


AWAY = OutsideReport(agrees=("a",), uncarried={"b": "it is skipped there"})
NOWHERE = OutsideReport(uncarried={"a": "the test uses threads", "b": "the test uses threads"})


def result(mode: InProcessOnly, outside: OutsideReport | None) -> EvaluationResult:
    base = replace(ran(a="passed", b="passed"), canaries_ran=True)
    return result_of(PytestEvaluator(), JudgedRun(of_base=base, outside=outside, in_process=mode))


@pytest.mark.parametrize("outside", [NOWHERE, None], ids=["nothing carried", "switched off"])
def test_a_pass_on_evidence_of_one_process_says_so_and_may_be_refused(outside: OutsideReport | None) -> None:
    noted, asked, failed = (result(mode, outside) for mode in InProcessOnly)
    assert noted.passed
    assert "all evidence comes from the code's own process" in noted.feedback.splitlines()[0]
    assert not asked.passed
    assert [each.id for each in asked.questions] == ["pytest"]
    assert not failed.passed
    assert not failed.questions


def test_evidence_from_another_process_is_counted_and_enough() -> None:
    found = result(InProcessOnly.FAIL, AWAY)
    assert found.passed
    assert (
        found.feedback.splitlines()[0]
        == "2 tests passed; 1 of 2 base tests also without the code in the test's process"
    )
