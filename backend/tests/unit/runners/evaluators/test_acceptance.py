"""Which results the acceptance of another one covers: the same finding of the same evaluator, no other."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.runners.evaluators.acceptance import Acceptance, covering, is_signed, signed
from app.runners.evaluators.protocol import (
    CriterionResult,
    EvaluationCategory,
    EvaluationResult,
    EvaluationStatus,
)
from app.runners.evaluators.verdict import VerdictStatus, judge

PASSED, FAILED, ERRORED, SKIPPED = EvaluationStatus


def result(name: str = "pytest", **values: Any) -> EvaluationResult:
    status = values.pop("status", FAILED)
    document = {
        "evaluator_name": name,
        "category": EvaluationCategory.TESTING,
        "passed": status in (PASSED, SKIPPED),
        "status": status,
        "score": 1.0 if status is PASSED else 0.2,
        "feedback": "1 of 9 tests failed",
        "suggestions": ["tests/test_a.py:12: assert 3 == 4"],
        "criteria": [CriterionResult(criterion="tests", passed=False, score=0.1, message="1 of 9 failed")],
    }
    return EvaluationResult.model_validate(document | values)


ACCEPTED = [Acceptance.of(result(), by="ada", phase="coding", attempt=3)]


@pytest.mark.parametrize(
    ("later", "is_covered"),
    [
        pytest.param(result(), True, id="the same"),
        pytest.param(result(suggestions=["tests/test_a.py:14: assert 3 == 4"]), True, id="moved"),
        pytest.param(result(score=0.1, duration_ms=9, metadata={"seed": 7}), True, id="figures"),
        pytest.param(result(suggestions=["tests/test_a.py:12: assert 5 == 4"]), False, id="another value"),
        pytest.param(
            result(suggestions=[*result().suggestions, "tests/test_b.py:1: False"]), False, id="one more"
        ),
        pytest.param(result(suggestions=[]), False, id="one fewer"),
        # What is shown is cut after some lines; how many there are is said in the feedback.
        pytest.param(result(feedback="2 of 9 tests failed"), False, id="more than are shown"),
        pytest.param(result(criteria=[]), False, id="other criteria"),
        pytest.param(result("ruff_lint"), False, id="another evaluator"),
        pytest.param(result(status=ERRORED), False, id="no verdict"),
        pytest.param(result(status=PASSED, criteria=[]), False, id="passed"),
    ],
)
def test_what_is_covered(later: EvaluationResult, is_covered: bool) -> None:
    assert (covering(later, ACCEPTED) is not None) is is_covered
    assert is_signed(signed(later, ACCEPTED)) is is_covered
    verdict = judge([later], [later.evaluator_name], acceptances=ACCEPTED)
    assert (verdict.status is VerdictStatus.PASSED) is (is_covered or later.passed)


def test_an_evaluator_cannot_say_itself_that_it_was_accepted() -> None:
    forged = result(suggestions=["a new one"], metadata={"accepted": {"by": "ada"}, "kept": 1})
    assert signed(forged, ACCEPTED).metadata == {"kept": 1}


def test_the_latest_acceptance_is_named() -> None:
    again = Acceptance.of(result(), by="bob", phase="verification", attempt=1)
    found = covering(result(), [*ACCEPTED, again])
    assert found == again
    assert judge([result()], ["pytest"], acceptances=[*ACCEPTED, again]).reason == (
        "Every gate holds, except for what a person accepted (pytest: accepted by bob in verification)"
    )


def test_other_gates_still_decide() -> None:
    accepted_and = [result(), result("ruff_lint", suggestions=["a.py:1: F401"])]
    verdict = judge(accepted_and, ["pytest", "ruff_lint"], acceptances=ACCEPTED)
    assert (verdict.status, verdict.reason) == (VerdictStatus.FAILED, "Failed: ruff_lint")
    assert (verdict.failed_gates, verdict.accepted) == (("ruff_lint",), ("pytest",))
    missing = judge([result()], ["pytest", "ruff_lint"], acceptances=ACCEPTED)
    assert missing.status is VerdictStatus.ERRORED


def test_what_was_accepted_does_not_weigh_on_the_score() -> None:
    both = judge(
        [result(), result("ruff_lint", status=PASSED, criteria=[])],
        ["pytest", "ruff_lint"],
        acceptances=ACCEPTED,
    )
    assert (both.status, both.score) == (VerdictStatus.PASSED, 1.0)
    alone = judge([result()], ["pytest"], acceptances=ACCEPTED)
    assert (alone.status, alone.score) == (VerdictStatus.PASSED, 0.2)


_STATUSES = st.sampled_from(list(EvaluationStatus))


@given(st.lists(st.tuples(st.sampled_from("abc"), _STATUSES), unique_by=lambda each: each[0]))
def test_acceptances_of_other_findings_change_no_verdict(panel: list[tuple[str, EvaluationStatus]]) -> None:
    results = [result(name, status=status, criteria=[]) for name, status in panel]
    others = [
        Acceptance.of(result(name, feedback="something else"), by="ada", phase="coding", attempt=1)
        for name in "abc"
    ]
    gates = list("abc")
    assert judge(results, gates, acceptances=others) == judge(results, gates)
