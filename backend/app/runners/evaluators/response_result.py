"""Turns an evaluated answer into an evaluation result, with one criterion per dimension."""

from dataclasses import asdict

from app.runners.evaluators.protocol import CriterionResult, EvaluationCategory, EvaluationResult
from app.runners.evaluators.response_evaluator import ResponseJudgement, is_passed
from app.schemas.response_evaluation import EvaluatorOutput, Verdict

VERSION = "1"


def quality_result(
    name: str, judged: ResponseJudgement, output: EvaluatorOutput, *, what: str, asked: str
) -> EvaluationResult:
    """Return the result. Its score is the share of sufficient dimensions.

    Args:
        name: name of the evaluator.
        judged: the judgement, with its model and cost.
        output: the judged dimensions.
        what: the subject of the judgement, for people.
        asked: the question that it should answer, for people.
    """
    criteria = [
        CriterionResult(
            criterion=each.dimension,
            passed=each.verdict is Verdict.SUFFICIENT,
            score=float(each.verdict is Verdict.SUFFICIENT),
            message="; ".join(each.issues) or each.reasoning,
        )
        for each in output.dimensions
    ]
    passed = is_passed(output)
    failed = ", ".join(each.criterion for each in criteria if not each.passed)
    return EvaluationResult(
        evaluator_name=name,
        category=EvaluationCategory.CORRECTNESS,
        passed=passed,
        score=sum(each.score for each in criteria) / len(criteria),
        feedback=f"The {what} answers the {asked}" if passed else f"The {what} is insufficient in: {failed}",
        criteria=criteria,
        suggestions=[f"{each.issue}: {each.suggestion}" for each in output.feedback],
        metadata={"model": judged.model, "usage": asdict(judged.usage)},
        evaluator_version=VERSION,
    )
