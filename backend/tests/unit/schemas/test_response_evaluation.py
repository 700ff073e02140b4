"""The models of answers that are checked: strict, and clear about what is wrong."""

from typing import Any

import pytest
from pydantic import ValidationError

from app.schemas.response_evaluation import (
    EvaluationDimension,
    EvaluationFeedback,
    EvaluatorInput,
    EvaluatorOutput,
    Verdict,
)

GIVEN: dict[str, Any] = {"query": "Why?", "response": "Because.", "entries_summary": "1: because"}
DIMENSION: dict[str, Any] = {"dimension": "accuracy", "verdict": "SUFFICIENT", "reasoning": "supported"}
OUTPUT: dict[str, Any] = {
    "dimensions": [DIMENSION],
    "overall_verdict": "INSUFFICIENT",
    "recommendation": "give_partial",
}


def test_the_defaults_of_an_input() -> None:
    given = EvaluatorInput(**GIVEN)
    assert (given.attempt_number, given.evaluation_rules, given.previous_feedback) == (1, [], [])
    assert (given.analysis.summary, given.analysis.findings, given.analysis.gaps) == ("", [], [])


def test_an_analysis_in_prose_is_its_summary() -> None:
    assert EvaluatorInput.model_validate({**GIVEN, "analysis": "much"}).analysis.summary == "much"


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        pytest.param({"query": ""}, "query", id="empty query"),
        pytest.param({"query": " \n\t"}, "query", id="blank query"),
        pytest.param({"query": "\u2003"}, "query", id="query of wide blanks"),
        pytest.param({"response": ""}, "response", id="empty response"),
        pytest.param({"response": "   "}, "response", id="blank response"),
        pytest.param({"entries_summary": ""}, "entries_summary", id="no evidence"),
        pytest.param({"attempt_number": 0}, "attempt_number", id="attempt 0"),
        pytest.param({"attempt_number": -1}, "attempt_number", id="attempt -1"),
        pytest.param({"attempt_number": "1"}, "attempt_number", id="attempt as text"),
        pytest.param({"attempt_number": 1.0}, "attempt_number", id="attempt as float"),
        pytest.param({"attempt_number": True}, "attempt_number", id="attempt as bool"),
        pytest.param({"query": 7}, "query", id="query as number"),
        pytest.param({"query": b"Why?"}, "query", id="query as bytes"),
        pytest.param({"evaluation_rules": "be kind"}, "evaluation_rules", id="one rule without a list"),
        pytest.param({"previous_feedback": ["bad"]}, "previous_feedback", id="feedback as text"),
        pytest.param({"surplus": 1}, "surplus", id="unknown field"),
    ],
)
def test_a_bad_input_is_a_value_error_that_names_the_field(changed: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=rf"(?m)^{named}\b"):
        EvaluatorInput.model_validate({**GIVEN, **changed})


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"verdict": Verdict.PARTIAL}, id="partial"),
        pytest.param({"verdict": "PARTIAL"}, id="partial as a word"),
        pytest.param({"verdict": "sufficient"}, id="another spelling"),
        pytest.param({"verdict": True}, id="a bool"),
        pytest.param({"dimension": "tone"}, id="a fifth dimension"),
        pytest.param({"reasoning": ""}, id="no reasoning"),
        pytest.param({"reasoning": " "}, id="blank reasoning"),
        pytest.param({"issues": "one"}, id="issues as text"),
        pytest.param({"score": 1.0}, id="a field of its own"),
    ],
)
def test_a_bad_dimension_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        EvaluationDimension.model_validate({**DIMENSION, **changed})


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"recommendation": "retry"}, id="unknown recommendation"),
        pytest.param({"overall_verdict": "GOOD"}, id="unknown verdict"),
        pytest.param({"dimensions": [DIMENSION, DIMENSION]}, id="a dimension twice"),
        pytest.param({"feedback": [{"issue": "x", "suggestion": ""}]}, id="feedback without suggestion"),
        pytest.param({"feedback": [{"issue": " ", "suggestion": "y"}]}, id="feedback without issue"),
    ],
)
def test_a_bad_output_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        EvaluatorOutput.model_validate({**OUTPUT, **changed})


def test_an_output_survives_json_and_python() -> None:
    output = EvaluatorOutput.model_validate(
        {**OUTPUT, "feedback": [EvaluationFeedback(issue="x", suggestion="y", affected_claim="z")]}
    )
    assert EvaluatorOutput.model_validate_json(output.model_dump_json()) == output
    assert EvaluatorOutput.model_validate(output.model_dump(mode="json")) == output
