"""Evaluations as the API shows them."""

import pytest

from app.runners.evaluators.protocol import CriterionResult, EvaluationCategory, EvaluationResult
from app.schemas.evaluation import EvaluationResultSchema, FeedbackMemorySchema, PhaseEvaluationSummary


def test_a_result_becomes_a_schema() -> None:
    result = EvaluationResult(
        evaluator_name="pytest",
        category=EvaluationCategory.FUNCTIONALITY,
        passed=False,
        score=0.5,
        feedback="half",
        criteria=[CriterionResult(criterion="c", passed=False)],
        duration_ms=3,
    )
    shown = EvaluationResultSchema.model_validate(result).model_dump(mode="json")
    assert shown["category"] == "functionality"
    assert shown["status"] == "failed"
    assert shown["criteria"][0]["criterion"] == "c"
    assert shown["duration_ms"] == 3


@pytest.mark.parametrize(
    ("passed", "blocking", "proceeds"),
    [(True, [], True), (True, ["x"], False), (False, [], False)],
    ids=["passed", "blocked", "failed"],
)
def test_a_phase_proceeds_when_it_passed_and_nothing_blocks(
    passed: bool, blocking: list[str], proceeds: bool
) -> None:
    summary = PhaseEvaluationSummary(
        phase="coding", attempt=1, overall_passed=passed, overall_score=1.0, blocking_issues=blocking
    )
    assert summary.can_proceed is proceeds
    assert summary.model_dump()["can_proceed"] is proceeds


def test_an_empty_memory() -> None:
    memory = FeedbackMemorySchema.model_validate(
        {"sprint_id": "00000000-0000-0000-0000-00000000000a", "phase": "coding"}
    )
    assert (memory.max_attempts, memory.current_attempt, memory.attempts) == (3, 1, [])
