"""What evaluators that ask a model consumed counts, whether they reached a verdict or not."""

from typing import Any

import pytest

from app.runners.evaluators.panel import judges_usage
from app.runners.evaluators.protocol import EvaluationCategory, EvaluationResult, EvaluationStatus
from app.schemas.runs import Usage

PRICED = {"requests": 2, "tool_calls": 0, "input_tokens": 100, "output_tokens": 10, "cost_usd": 0.25}
UNPRICED = {"requests": 1, "tool_calls": 0, "input_tokens": 50, "output_tokens": 5, "cost_usd": None}


def result(usage: Any, status: EvaluationStatus = EvaluationStatus.PASSED) -> EvaluationResult:
    return EvaluationResult(
        evaluator_name="security",
        category=EvaluationCategory.SECURITY,
        passed=status in (EvaluationStatus.PASSED, EvaluationStatus.SKIPPED),
        feedback="",
        status=status,
        metadata={} if usage is None else {"usage": usage},
    )


@pytest.mark.parametrize("status", list(EvaluationStatus))
def test_every_status_counts(status: EvaluationStatus) -> None:
    assert judges_usage([result(PRICED, status)]) == Usage(
        requests=2, input_tokens=100, output_tokens=10, cost_usd=0.25
    )


@pytest.mark.parametrize(
    ("parts", "cost"),
    [
        pytest.param([UNPRICED], None, id="unknown"),
        pytest.param([UNPRICED, UNPRICED], None, id="both unknown"),
        pytest.param([UNPRICED, PRICED], 0.25, id="one known"),
        pytest.param([None], None, id="nobody was asked"),
        pytest.param([], None, id="nothing"),
        pytest.param(["lots", {"requests": "many"}], None, id="something else under this name"),
    ],
)
def test_a_cost_that_nobody_knows_is_not_zero(parts: list[Any], cost: float | None) -> None:
    assert judges_usage([result(each) for each in parts]).cost_usd == cost
