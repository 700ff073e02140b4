"""Issues are the same when only their surroundings changed."""

import pytest

from app.runners.evaluators.issues import failure_fingerprint, issue_key, unique_issues
from app.runners.evaluators.protocol import EvaluationCategory, EvaluationResult, EvaluationStatus


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Fix F401 in a.py line 3: x", "Fix F401 in a.py line 41: x", id="line"),
        pytest.param("a.py:3:7: unused", "a.py:12:1: unused", id="place"),
        pytest.param("<A object at 0x7f01>", "<A object at 0xbeef>", id="address"),
        pytest.param("<Mock id='140387614397264'>", "<Mock id='140235042098256'>", id="address of a mock"),
        pytest.param("took 1.25s", "took 13.5s", id="duration"),
        pytest.param("did not finish within 3 seconds", "did not finish within 120 seconds", id="seconds"),
        pytest.param("no file /tmp/a1/x.py", "no file /var/tmp/b2/c3/x.py", id="directory"),
        pytest.param("at 2026-01-02T03:04:05Z", "at 2027-11-12 13:14:15", id="time"),
        pytest.param("fix   it\nnow", "Fix it now ", id="space and case"),
    ],
)
def test_same_issue(one: str, other: str) -> None:
    assert issue_key(one) == issue_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("assert 3 == 4", "assert 5 == 4", id="values"),
        pytest.param("Fix F401 in a.py", "Fix F811 in a.py", id="rule"),
        pytest.param("test_a: KeyError", "test_b: KeyError", id="test"),
        pytest.param("no file /tmp/a/x.py", "no file /tmp/a/y.py", id="file"),
    ],
)
def test_other_issue(one: str, other: str) -> None:
    assert issue_key(one) != issue_key(other)


def test_the_first_wording_of_an_issue_is_kept() -> None:
    assert unique_issues(["a at line 1", "b", "a at line 2"]) == ["a at line 1", "b"]


def failed(
    name: str, *suggestions: str, status: EvaluationStatus = EvaluationStatus.FAILED
) -> EvaluationResult:
    return EvaluationResult(
        evaluator_name=name,
        category=EvaluationCategory.COMPLIANCE,
        passed=False,
        feedback="1 fault",
        suggestions=list(suggestions),
        status=status,
    )


def test_the_fingerprint_ignores_order_and_noise() -> None:
    one = failure_fingerprint([failed("a", "x at line 1", "y"), failed("b", "z")])
    other = failure_fingerprint([failed("b", "z"), failed("a", "y", "x at line 9")])
    assert one == other
    assert len(one) == 16


def test_the_fingerprint_tells_failures_apart() -> None:
    prints = {
        failure_fingerprint([failed("a", "x")]),
        failure_fingerprint([failed("b", "x")]),
        failure_fingerprint([failed("a", "y")]),
        failure_fingerprint([failed("a")]),
    }
    assert len(prints) == 4


def test_no_failure_has_no_fingerprint() -> None:
    assert failure_fingerprint([]) == ""
    assert failure_fingerprint([failed("a", "x", status=EvaluationStatus.ERRORED)]) == ""
