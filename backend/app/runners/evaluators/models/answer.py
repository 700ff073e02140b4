"""A model's answer to a review, and the verdict that is computed from it.

Only the scores of the criteria and the blocking issues count. Everything else in an answer, such as its
reasoning, its overall assessment or its suggestions, is shown to people and has no effect.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from app.runners.evaluators.models.influence import Influence
from app.runners.evaluators.models.prompts import Focus
from app.runners.evaluators.protocol import CriterionResult
from app.schemas.text import storable_text

INFLUENCE = "possible attempt to influence the review"
BLOCKING = "blocking issue"
_MAX_SUGGESTIONS = 8
_TEXT_CHARS = 4000
_SHORT_CHARS = 1000
_DIGITS = 9
"""Digits to which a mean is rounded, because the mean of equal scores must not fall below them."""


class CriterionAssessment(BaseModel):
    """The assessment of one criterion. Write the reasoning before the score."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    criterion: str
    reasoning: str = Field(min_length=1)
    score: float | None = Field(
        ge=0.0,
        le=1.0,
        strict=True,
        allow_inf_nan=False,
        description="From 0.0 to 1.0. Null, where that is allowed, if the criterion does not apply.",
    )


class Assessment(BaseModel):
    """The review of the work: every criterion with its score."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    criteria: list[CriterionAssessment]
    overall_assessment: str = Field(min_length=1, description="Two or three sentences.")
    suggestions: list[str] = Field(
        default=[], description="Specific changes that would improve the work, most important first."
    )
    blocking_issues: list[str] = Field(
        default=[], description="Faults because of which the work must not be accepted. Often there are none."
    )


@dataclass(frozen=True, slots=True)
class Standard:
    """The thresholds of a verdict, each in [0, 1]: the mean that passes, and each criterion's minimum."""

    passing: float
    blocking: float


@dataclass(frozen=True, slots=True)
class ComputedVerdict:
    """The verdict computed from an answer.

    Attributes:
        score: mean of the criteria that apply, in [0, 1]; None if none applies.
        passed: True if the score suffices, no criterion blocks, and no text seems to have influenced the
            review.
        criteria: those of the focus in its order, then one for each blocking issue and finding.
        not_applicable: names of criteria that do not apply according to the model.
    """

    score: float | None
    passed: bool
    criteria: list[CriterionResult] = field(default_factory=list[CriterionResult])
    suggestions: list[str] = field(default_factory=list[str])
    not_applicable: list[str] = field(default_factory=list[str])


def objection(focus: Focus, answer: Assessment) -> str | None:
    """Return what an answer with the right structure lacks. Return None if it scores every criterion once."""
    named = sorted(each.criterion.casefold() for each in answer.criteria)
    if named != sorted(name.casefold() for name in focus.criteria):
        return f"Score each of these criteria exactly once: {', '.join(focus.criteria)}"
    if not focus.may_not_apply and any(each.score is None for each in answer.criteria):
        return "Give every criterion a score"
    return None


def compute(
    focus: Focus,
    answer: Assessment,
    standard: Standard,
    influence: Sequence[Influence] = (),
    *,
    is_subject: bool = False,
) -> ComputedVerdict:
    """Compute the verdict of an answer to which there is no objection.

    Args:
        influence: places in the work that seem to address the reviewer. They block.
        is_subject: True if the project deals with such text; then the places are only noted.
    """
    given = {each.criterion.casefold(): each for each in answer.criteria}
    assessed = [(name, given[name.casefold()]) for name in focus.criteria]
    scores = [each.score for _, each in assessed if each.score is not None]
    score = round(math.fsum(scores) / len(scores), _DIGITS) if scores else None
    issues = [_text(issue, _SHORT_CHARS) for issue in answer.blocking_issues if issue.strip()]
    issues = issues[:_MAX_SUGGESTIONS]
    blocked = issues or any(each < min(standard.passing, standard.blocking) for each in scores)
    suspicious = influence and not is_subject
    criteria = [_criterion(name, each, standard) for name, each in assessed]
    criteria += [CriterionResult(criterion=BLOCKING, passed=False, message=issue) for issue in issues]
    criteria += [_suspicion(each, is_subject=is_subject) for each in influence]
    advice = [f"Remove or explain the text that addresses the reviewer: {influence[0]}"] if suspicious else []
    suggestions = [_text(each, _SHORT_CHARS) for each in answer.suggestions if each.strip()]
    return ComputedVerdict(
        score=score,
        passed=not blocked and not suspicious and (score is None or score >= standard.passing),
        criteria=criteria,
        suggestions=[*advice, *issues, *suggestions][:_MAX_SUGGESTIONS],
        not_applicable=[name for name, each in assessed if each.score is None],
    )


def _criterion(name: str, assessed: CriterionAssessment, standard: Standard) -> CriterionResult:
    message = _text(assessed.reasoning, _TEXT_CHARS)
    if assessed.score is None:
        return CriterionResult(criterion=name, passed=True, score=1.0, message=f"Does not apply: {message}")
    passed = assessed.score >= standard.passing
    return CriterionResult(criterion=name, passed=passed, score=assessed.score, message=message)


def _suspicion(found: Influence, *, is_subject: bool) -> CriterionResult:
    noted = " (only noted: the project deals with such text)" if is_subject else ""
    return CriterionResult(
        criterion=INFLUENCE,
        passed=is_subject,
        score=float(is_subject),
        message=storable_text(f"Possible attempt to influence the review, in {found}{noted}"),
        evidence=storable_text(found.quote),
    )


def _text(text: str, limit: int) -> str:
    text = storable_text(text.strip())
    return text if len(text) <= limit else f"{text[:limit]} …"
