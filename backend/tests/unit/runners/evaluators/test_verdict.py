"""A pass means that every gate ran, at least one checked something, and nothing spoke against it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.runners.evaluators.acceptance import Acceptance
from app.runners.evaluators.protocol import (
    CriterionResult,
    EvaluationCategory,
    EvaluationResult,
    EvaluationStatus,
)
from app.runners.evaluators.verdict import VerdictPolicy, VerdictStatus, judge
from app.schemas.questions import QUESTIONS, Question, QuestionKind

PASSED, FAILED, ERRORED, SKIPPED = EvaluationStatus


def result(
    name: str, status: EvaluationStatus = PASSED, score: float = 1.0, blocking: bool = False
) -> EvaluationResult:
    criteria = [CriterionResult(criterion="c", passed=False, score=0.1, message="blocks")] if blocking else []
    return EvaluationResult(
        evaluator_name=name,
        category=EvaluationCategory.TESTING,
        passed=status in (PASSED, SKIPPED),
        status=status,
        score=score,
        feedback=f"{name} says",
        criteria=criteria,
    )


@pytest.mark.parametrize(
    ("results", "gates", "status", "reason"),
    [
        pytest.param([result("a")], ["a"], "passed", "Every gate holds", id="one gate"),
        pytest.param([result("a"), result("b", FAILED)], ["a"], "passed", "", id="advisory failure"),
        pytest.param([result("a"), result("b", ERRORED)], ["a"], "passed", "", id="advisory crash"),
        pytest.param(
            [result("a"), result("b", SKIPPED)], ["a", "b"], "passed", "", id="one had nothing to do"
        ),
        pytest.param([result("a"), result("b", FAILED)], ["a", "b"], "failed", "Failed: b", id="gate failed"),
        pytest.param([result("a", blocking=True)], ["a"], "failed", "Blocking: blocks", id="blocking issue"),
        pytest.param([result("a", score=0.69)], ["a"], "failed", "0.69 is below 0.70", id="low score"),
        pytest.param([result(n, score=0.7) for n in "abc"], ["a", "b", "c"], "passed", "", id="just enough"),
        pytest.param([result("a"), result("b", ERRORED)], ["a", "b"], "errored", "b says", id="gate crashed"),
        pytest.param(
            [result("a", FAILED), result("b", ERRORED)],
            ["a", "b"],
            "errored",
            "b says",
            id="failed and crashed",
        ),
        pytest.param([result("a")], ["a", "b"], "errored", "b returned no result", id="gate missing"),
        pytest.param([result("a", SKIPPED)], ["a"], "errored", "No gate checked anything", id="all skipped"),
        pytest.param([], [], "errored", "No gate checked anything", id="nothing at all"),
        pytest.param([result("b")], [], "errored", "No gate checked anything", id="only advisory"),
    ],
)
def test_verdicts(results: list[EvaluationResult], gates: list[str], status: str, reason: str) -> None:
    verdict = judge(results, gates)
    assert verdict.status == status
    assert reason in verdict.reason
    assert verdict.passed == (status == "passed")


def test_a_verdict_names_its_grounds() -> None:
    results = [result("a", FAILED, 0.5), result("b", SKIPPED), result("c", ERRORED), result("d", score=0.0)]
    verdict = judge(results, ["a", "b", "c", "e"])
    assert verdict.score == 0.5
    assert verdict.failed_gates == ("a",)
    assert verdict.errored_gates == ("e", "c")
    assert [each.evaluator_name for each in verdict.advisory] == ["d"]


def test_thresholds_come_from_the_policy() -> None:
    assert judge([result("a", score=0.4)], ["a"], VerdictPolicy(pass_threshold=0.4)).passed
    blocking = result("a", blocking=True)
    assert judge([blocking], ["a"], VerdictPolicy(blocking_threshold=0.1)).passed


GATES = ("a", "b", "c")
panels = st.lists(
    st.builds(
        result,
        st.sampled_from(["a", "b", "c", "x", "y"]),
        st.sampled_from(list(EvaluationStatus)),
        st.floats(0, 1),
        st.booleans(),
    ),
    max_size=8,
)


@given(panels, st.sets(st.sampled_from(GATES)))
def test_a_pass_always_has_evidence(results: list[EvaluationResult], gates: set[str]) -> None:
    verdict = judge(results, gates)
    decisive = [each for each in results if each.evaluator_name in gates]
    if verdict.passed:
        assert gates <= {each.evaluator_name for each in decisive}
        assert all(each.status in (PASSED, SKIPPED) for each in decisive)
        assert any(each.status is PASSED for each in decisive)
        assert not verdict.blocking_issues
        assert verdict.score >= 0.7 - 1e-9


@given(panels, st.sets(st.sampled_from(GATES)))
def test_advisory_results_never_decide(results: list[EvaluationResult], gates: set[str]) -> None:
    without = [each for each in results if each.evaluator_name in gates]
    with_all, with_gates = judge(results, gates), judge(without, gates)
    assert (with_all.status, with_all.score, with_all.reason) == (
        with_gates.status,
        with_gates.score,
        with_gates.reason,
    )


@given(panels, st.sampled_from(GATES), st.sampled_from([FAILED, ERRORED]))
def test_one_bad_gate_is_enough(results: list[EvaluationResult], gate: str, status: EvaluationStatus) -> None:
    assert not judge([*results, result(gate, status)], GATES).passed


@given(panels)
def test_losing_a_gate_never_helps(results: list[EvaluationResult]) -> None:
    if judge(results, GATES).passed:
        for gate in GATES:
            rest = [each for each in results if each.evaluator_name != gate]
            assert judge(rest, GATES).status is VerdictStatus.ERRORED


def asking(name: str, *subjects: str, why: str = "") -> EvaluationResult:
    asked = [
        Question.about(each, QuestionKind.DIFFERENT, f"`{each}` changed?", why=why, before="3", after="4")
        for each in subjects
    ]
    questions = [each.model_dump(mode="json") for each in asked]
    return result(name, FAILED, 0.0).model_copy(update={"metadata": {QUESTIONS: questions}})


@pytest.mark.parametrize(
    ("others", "status"),
    [
        pytest.param([result("pytest")], "asks", id="everything else holds"),
        pytest.param([asking("pytest", "t.py::test_a")], "asks", id="two gates ask the same"),
        pytest.param([result("pytest", FAILED)], "failed", id="something else fails"),
        pytest.param([result("pytest", ERRORED)], "errored", id="something else has no verdict"),
        pytest.param([result("pytest", blocking=True)], "failed", id="something else blocks"),
        pytest.param([result("pytest", score=0.1)], "failed", id="too low a score"),
    ],
)
def test_a_question_waits_for_a_human_when_everything_else_holds(
    others: list[EvaluationResult], status: str
) -> None:
    results = [asking("protected_files", "t.py::test_a"), *others]
    verdict = judge(results, ["protected_files", "pytest"])
    assert verdict.status == status
    assert not verdict.passed
    if status == "asks":
        assert [each.id for each in verdict.questions] == ["t.py::test_a"]
        assert "`t.py::test_a` changed?" in verdict.reason


def test_the_form_of_a_question_that_knows_most_is_asked() -> None:
    results = [asking("a", "t.py::test_a", "t.py::test_b"), asking("b", "t.py::test_a", why="base fails")]
    verdict = judge(results, ["a", "b"])
    assert [(each.id, each.why) for each in verdict.questions] == [
        ("t.py::test_a", "base fails"),
        ("t.py::test_b", ""),
    ]
    assert verdict.reason.endswith("(and 1 more like it)")


def test_an_advisory_question_holds_nobody_up() -> None:
    assert judge([result("a"), asking("b", "t.py::test_a")], ["a"]).passed


@pytest.mark.parametrize("kept", ["no list", [], [1], [{"id": "x"}], {"id": "x"}], ids=repr)
def test_what_is_no_question_is_a_plain_failure(kept: object) -> None:
    odd = result("b", FAILED).model_copy(update={"metadata": {QUESTIONS: kept}})
    assert judge([result("a"), odd], ["a", "b"]).status is VerdictStatus.FAILED


def test_only_the_accepted_question_is_answered() -> None:
    first, both = asking("protected_files", "test_a"), asking("protected_files", "test_a", "test_b")
    accepted = [Acceptance.of(first, by="ada", phase="coding", attempt=1)]
    gates = ["pytest", "protected_files", "later"]

    def verdict(*asked: EvaluationResult) -> str:
        return judge([result("pytest"), *asked, result("later")], gates, acceptances=accepted).status

    assert verdict(first) == "passed"
    assert verdict(both) == "asks"
    changed_again = Question.about("test_a", QuestionKind.DIFFERENT, "?", before="3", after="5")
    metadata = {QUESTIONS: [changed_again.model_dump(mode="json")]}
    assert verdict(first.model_copy(update={"metadata": metadata})) == "asks"


def test_an_answer_counts_for_whichever_gate_asks_it() -> None:
    accepted = [Acceptance.of(asking("protected_files", "test_a"), by="ada", phase="coding", attempt=1)]
    verdict = judge([result("x"), asking("pytest", "test_a")], ["x", "pytest"], acceptances=accepted)
    assert (verdict.status, verdict.accepted) == ("passed", ("pytest",))


@pytest.mark.parametrize(
    ("results", "status", "named"),
    [
        pytest.param([result("a"), result("o", FAILED)], "passed", ("o",), id="failed"),
        pytest.param([result("a"), result("o", ERRORED)], "passed", ("o",), id="errored"),
        pytest.param([result("a"), result("o", blocking=True)], "passed", (), id="passed"),
        pytest.param([result("a"), result("o", SKIPPED)], "passed", (), id="skipped"),
        pytest.param([result("a", FAILED), result("o", FAILED)], "failed", ("o",), id="beside a failed gate"),
        pytest.param([result("a", ERRORED), result("o")], "errored", (), id="beside an errored gate"),
        pytest.param([result("o")], "errored", (), id="a gate is missing"),
    ],
)
def test_an_observed_gate_blocks_nothing(
    results: list[EvaluationResult], status: str, named: tuple[str, ...]
) -> None:
    verdict = judge(results, ["a"], observed=["o"])
    assert (verdict.status, verdict.would_block) == (status, named)
    assert ("would have blocked: o" in verdict.reason) == (status == "passed" and bool(named))


def test_where_all_are_observed_the_pass_says_that_no_gate_decided() -> None:
    verdict = judge([result("o", FAILED), result("p")], [], observed=["o", "p"])
    assert verdict.passed
    assert "No gate decided anything" in verdict.reason
    assert "would have blocked: o" in verdict.reason
    assert judge([result("x")], []).status == "errored", "an adviser is no observed gate"
