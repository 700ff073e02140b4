"""What a test's record away from the code says, and what explains a failure there."""

from typing import Any

import pytest

from app.runners.evaluators.testing.pytest_outside.notes import PRINTS, WARNS
from app.runners.evaluators.testing.pytest_outside.outside_report import OutsideReport, sort_tests
from app.runners.evaluators.testing.pytest_outside.wire import SILENT

FAILED = {"outcome": "failed", "origin": "assertion", "message": "1 != 2"}


def said(record: dict[str, Any], quick: tuple[str, ...] = ()) -> str:
    report = sort_tests(["t"], {"t": record}, {}, quick)
    return "disagrees" if report.disagrees else "agrees" if report.agrees else report.uncarried["t"]


@pytest.mark.parametrize(
    ("record", "result"),
    [
        pytest.param({"outcome": "passed", "hard": []}, "agrees", id="a pass"),
        pytest.param(FAILED, "disagrees", id="a failure"),
        pytest.param({**FAILED, "soft": [WARNS], "uses": []}, "disagrees", id="a warning that no test wants"),
        pytest.param({**FAILED, "soft": [WARNS], "uses": ["warnings"]}, WARNS, id="a test of warnings"),
        pytest.param({**FAILED, "soft": [PRINTS], "uses": ["warnings"]}, "disagrees", id="much output"),
        pytest.param({**FAILED, "soft": [PRINTS], "uses": ["output"]}, PRINTS, id="a test of output"),
        pytest.param({**FAILED, "soft": ["another"], "uses": []}, "another", id="any other remark"),
        pytest.param({**FAILED, "origin": "system"}, "it cannot run there", id="the machine"),
        pytest.param({**FAILED, "hard": [SILENT]}, SILENT, id="no answer to a slow test"),
        pytest.param({"outcome": "skipped"}, "it is skipped there", id="a skip"),
        pytest.param({"outcome": "passed", "findings": ["x"]}, "disagrees", id="a finding"),
    ],
)
def test_what_a_record_says(record: dict[str, Any], result: str) -> None:
    assert said(record) == result


def test_a_quick_test_that_gets_no_answer_speaks_against_the_code() -> None:
    record = {**FAILED, "origin": "other", "hard": [SILENT]}
    assert said(record, ("t",)) == "disagrees"
    assert said({**record, "doubts": ["threading"]}, ("t",)) == SILENT


def test_only_what_two_runs_find_is_a_finding() -> None:
    one = OutsideReport(disagrees={"a": "x", "b": "y"})
    found = one.confirmed_by(OutsideReport(disagrees={"a": "z"}, agrees=("b",)))
    assert found.disagrees == {"a": "x"}
    assert found.uncarried == {"b": "it fails there in one run, and not in another"}
