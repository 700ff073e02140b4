"""Derives verdict, feedback and recommendation from the four dimensions of a judged answer.

The rule is a strict AND: one insufficient dimension makes the whole insufficient. A model's statements about
the whole have no effect, so a model that contradicts itself lets nothing pass.
"""

from collections.abc import Sequence

from app.schemas.response_evaluation import (
    DIMENSIONS,
    EvaluationDimension,
    EvaluationFeedback,
    EvaluatorOutput,
    Recommendation,
    Verdict,
)

MAX_RETRIES = 2
"""Retries after the first attempt, so there are at most three attempts."""


def overall_verdict(dimensions: Sequence[EvaluationDimension]) -> Verdict:
    """Return SUFFICIENT if all four dimensions are present and sufficient, else INSUFFICIENT."""
    good = {each.dimension for each in dimensions if each.verdict is Verdict.SUFFICIENT}
    bad = any(each.verdict is not Verdict.SUFFICIENT for each in dimensions)
    return Verdict.SUFFICIENT if good == set(DIMENSIONS) and not bad else Verdict.INSUFFICIENT


def recommend(
    dimensions: Sequence[EvaluationDimension],
    attempt_number: int,
    max_retries: int = MAX_RETRIES,
    *,
    lacks_data: bool = False,
) -> Recommendation:
    """Return what to do with an answer.

    Args:
        dimensions: all four.
        attempt_number: number of the judged attempt, from 1.
        max_retries: retries after the first attempt.
        lacks_data: True if an insufficient accuracy is due to missing evidence, not to evidence against
            claims.
    """
    if overall_verdict(dimensions) is Verdict.SUFFICIENT:
        return "accept"
    if attempt_number >= max_retries + 1:
        return "give_partial"
    inaccurate = any(
        each.dimension == "accuracy" and each.verdict is not Verdict.SUFFICIENT for each in dimensions
    )
    return "retry_with_more_context" if inaccurate and lacks_data else "retry_with_feedback"


def conclude(
    dimensions: Sequence[EvaluationDimension],
    feedback: Sequence[EvaluationFeedback],
    attempt_number: int,
    max_retries: int = MAX_RETRIES,
    *,
    lacks_data: bool = False,
) -> EvaluatorOutput:
    """Return the output for the dimensions. Every insufficient one leads to feedback."""
    said = list(feedback)
    for each in dimensions:
        if each.verdict is not Verdict.SUFFICIENT:
            known = {item.issue for item in said}
            issues = [issue for issue in each.issues if issue.strip()] or [each.reasoning]
            said += [_mend(each, issue) for issue in issues if issue not in known]
    return EvaluatorOutput(
        dimensions=list(dimensions),
        overall_verdict=overall_verdict(dimensions),
        feedback=said,
        recommendation=recommend(dimensions, attempt_number, max_retries, lacks_data=lacks_data),
    )


def is_passed(output: EvaluatorOutput) -> bool:
    """Return True if all four dimensions are sufficient, and the output does not contradict that itself."""
    says_so = output.overall_verdict is Verdict.SUFFICIENT
    return says_so and overall_verdict(output.dimensions) is Verdict.SUFFICIENT


def get_failed_dimensions(output: EvaluatorOutput) -> list[str]:
    """Return the names of the insufficient dimensions, in the order of the output."""
    return [each.dimension for each in output.dimensions if each.verdict is not Verdict.SUFFICIENT]


def get_all_issues(output: EvaluatorOutput) -> list[str]:
    """Return the issues of all dimensions, in the order of the output."""
    return [issue for each in output.dimensions for issue in each.issues]


def should_retry(output: EvaluatorOutput, attempt_number: int, max_retries: int = MAX_RETRIES) -> bool:
    """Return True if the answer did not pass and `attempt_number` is below `max_retries`."""
    return not is_passed(output) and attempt_number < max_retries


_MENDING = {
    "accuracy": "Support it with evidence from the entries, or leave it out",
    "relevance": "Answer what was asked",
    "safety": "Rewrite it so that the rule holds",
    "completeness": "Address this part of the question, or say that the evidence does not hold it",
}


def _mend(dimension: EvaluationDimension, issue: str) -> EvaluationFeedback:
    return EvaluationFeedback(issue=issue, suggestion=_MENDING[dimension.dimension])
