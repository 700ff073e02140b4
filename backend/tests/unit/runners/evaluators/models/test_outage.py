"""The outage of models, read from the results of evaluators."""

from datetime import UTC, datetime
from typing import Any, Literal

import pytest

from app.agents.models.question import QuestionOutcome
from app.agents.port import FailureKind
from app.runners.evaluators.models.outage import (
    MODEL_FAILURE,
    ModelOutage,
    failure_note,
    outage_of,
)
from app.runners.evaluators.protocol import EvaluationCategory, EvaluationResult, EvaluationStatus

EARLY, LATE = datetime(2026, 1, 1, 12, tzinfo=UTC), datetime(2026, 1, 1, 13, tzinfo=UTC)


def silent(name: str, note: object) -> EvaluationResult:
    return EvaluationResult(
        evaluator_name=name,
        category=EvaluationCategory.SECURITY,
        passed=False,
        feedback="no verdict",
        status=EvaluationStatus.ERRORED,
        metadata={} if note is None else {MODEL_FAILURE: note},
    )


def away(at: datetime | None = None) -> dict[str, Any]:
    return failure_note(QuestionOutcome(None, "m", kind=FailureKind.UNAVAILABLE, retry_at=at))[MODEL_FAILURE]


@pytest.mark.parametrize(
    ("results", "gates", "expected"),
    [
        pytest.param([silent("a", away())], ["a"], ModelOutage(["a"]), id="one"),
        pytest.param(
            [silent("a", away(EARLY)), silent("b", away(LATE))],
            ["a", "b"],
            ModelOutage(["a", "b"], LATE),
            id="the later end",
        ),
        pytest.param(
            [silent("a", away(EARLY)), silent("b", away())],
            ["a", "b"],
            ModelOutage(["a", "b"]),
            id="one unknown",
        ),
        pytest.param([silent("a", away()), silent("b", None)], ["a"], ModelOutage(["a"]), id="b is no gate"),
        pytest.param([silent("a", away()), silent("b", None)], ["a", "b"], None, id="b crashed"),
        pytest.param([silent("a", away())], ["a", "b"], None, id="b returned no result"),
        pytest.param([silent("a", {"kind": "configuration"})], ["a"], None, id="a rejected key"),
        pytest.param([silent("a", "away")], ["a"], None, id="another package's note"),
        pytest.param(
            [silent("a", {"kind": "unavailable", "retry_at": "tea time"})],
            ["a"],
            ModelOutage(["a"]),
            id="no time",
        ),
        pytest.param(
            [silent("a", {"kind": "unavailable", "retry_at": "2026-01-01T12:00:00"})],
            ["a"],
            ModelOutage(["a"]),
            id="a time without a zone",
        ),
        pytest.param([], [], None, id="nothing"),
    ],
)
def test_only_an_outage_of_all_silent_gates_is_waited_for(
    results: list[EvaluationResult], gates: list[str], expected: ModelOutage | None
) -> None:
    assert outage_of(results, gates) == expected


@pytest.mark.parametrize(("exhausted", "late"), [("time", True), ("turns", False), (None, False)])
def test_a_timeout_is_noted(exhausted: Literal["time", "turns"] | None, late: bool) -> None:
    note = failure_note(QuestionOutcome(None, "m", kind=FailureKind.LIMIT, exhausted=exhausted))
    assert note == {MODEL_FAILURE: {"kind": "limit", "timed_out": late, "retry_at": None}}
