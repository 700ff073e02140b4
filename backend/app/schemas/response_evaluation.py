"""The input and output of evaluating an answer before a user sees it."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

DimensionName = Literal["accuracy", "relevance", "safety", "completeness"]
Recommendation = Literal["accept", "retry_with_feedback", "retry_with_more_context", "give_partial"]

DIMENSIONS: tuple[DimensionName, ...] = ("accuracy", "relevance", "safety", "completeness")
"""The dimensions in which every answer is judged."""


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty or blank")
    return value


NotBlank = Annotated[str, AfterValidator(_not_blank)]


class _Strict(BaseModel):
    """Accepts no other fields and converts no values."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Verdict(StrEnum):
    """The verdict on a dimension, or on the whole answer. A dimension is never `PARTIAL`."""

    SUFFICIENT = "SUFFICIENT"
    INSUFFICIENT = "INSUFFICIENT"
    PARTIAL = "PARTIAL"


# A plain string is accepted for the member that it names, so that stored JSON can be
# validated from Python values.
_VerdictWord = Annotated[Verdict, Field(strict=False)]


class EvaluationFeedback(_Strict):
    """One problem of an answer and how to fix it; `affected_claim` quotes the answer."""

    issue: NotBlank
    suggestion: NotBlank
    affected_claim: str | None = None


class AnalysisFinding(_Strict):
    """A finding, and the places in the evidence that support it."""

    claim: NotBlank
    evidence: list[str] = []


class Analysis(_Strict):
    """The analysis of the evidence before the answer was written. A plain text becomes the summary.

    Attributes:
        summary: in prose.
        findings: each with its evidence.
        gaps: what the question asks for and the evidence lacks.
    """

    summary: str = ""
    findings: list[AnalysisFinding] = []
    gaps: list[str] = []

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, given: Any) -> Any:
        return {"summary": given} if isinstance(given, str) else given


class EvaluatorInput(_Strict):
    """An answer, and what it is judged by.

    Attributes:
        query: what the user asked.
        response: the answer.
        analysis: the analysis that it is based on.
        entries_summary: the evidence at hand.
        evaluation_rules: rules of the domain, in addition to the default ones.
        attempt_number: from 1.
        previous_feedback: the feedback on earlier attempts.
    """

    query: NotBlank
    response: NotBlank
    analysis: Analysis = Analysis()
    entries_summary: NotBlank
    evaluation_rules: list[str] = []
    attempt_number: int = Field(default=1, ge=1)
    previous_feedback: list[EvaluationFeedback] = []


class EvaluationDimension(_Strict):
    """One dimension: whether it is sufficient, why, and what is wrong."""

    dimension: DimensionName
    verdict: _VerdictWord
    reasoning: NotBlank
    issues: list[str] = []

    @field_validator("verdict")
    @classmethod
    def _not_partial(cls, verdict: Verdict) -> Verdict:
        if verdict is Verdict.PARTIAL:
            raise ValueError("a dimension is SUFFICIENT or INSUFFICIENT, never PARTIAL")
        return verdict


class EvaluatorOutput(_Strict):
    """The evaluation of an answer; the verdict and the recommendation follow from the dimensions."""

    dimensions: list[EvaluationDimension]
    overall_verdict: _VerdictWord
    feedback: list[EvaluationFeedback] = []
    recommendation: Recommendation

    @field_validator("dimensions")
    @classmethod
    def _each_once(cls, dimensions: list[EvaluationDimension]) -> list[EvaluationDimension]:
        names = [each.dimension for each in dimensions]
        if len(names) != len(set(names)):
            raise ValueError("a dimension is judged more than once")
        return dimensions
