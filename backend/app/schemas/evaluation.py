"""Evaluations and the feedback memory in the API."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, computed_field

from app.schemas import defaults

CheckerName = Literal["mypy", "pyright", "basedpyright", "ty"]
"""A tool that checks types."""

_FROM_RESULT = ConfigDict(frozen=True, from_attributes=True, defer_build=True)


class CriterionResultSchema(BaseModel):
    """One criterion; `score` in [0, 1]."""

    model_config = _FROM_RESULT

    criterion: str
    passed: bool
    score: float = Field(default=0.0, ge=0.0, le=1.0)
    message: str = ""
    evidence: str | None = None


class EvaluationResultSchema(BaseModel):
    """The result of one evaluator. `model_validate` makes it from an evaluator's result."""

    model_config = _FROM_RESULT

    evaluator_name: str
    category: str
    status: str = Field(default="", description="passed, failed, errored or skipped")
    passed: bool
    score: float = Field(default=0.0, ge=0.0, le=1.0)
    feedback: str
    criteria: list[CriterionResultSchema] = []
    suggestions: list[str] = []
    metadata: dict[str, Any] = {}
    evaluator_version: str = "1"
    trace_id: str | None = None
    evaluated_at: datetime | None = None
    duration_ms: int | None = Field(default=None, ge=0)


class PhaseEvaluationSummary(BaseModel):
    """The verdict on one attempt of a phase, with all results behind it."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    phase: str
    attempt: int = Field(ge=1)
    overall_passed: bool
    overall_score: float = Field(default=0.0, ge=0.0, le=1.0)
    evaluations: list[EvaluationResultSchema] = []
    blocking_issues: list[str] = []

    @computed_field
    @property
    def can_proceed(self) -> bool:
        """Return whether the attempt passed and nothing blocks."""
        return self.overall_passed and not self.blocking_issues


class AttemptRecord(BaseModel):
    """One attempt in the feedback memory."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    attempt_number: int = Field(ge=1)
    started_at: datetime
    completed_at: datetime | None = None
    output_summary: str = ""
    evaluation: PhaseEvaluationSummary | None = None
    optimization_applied: str | None = None
    trace_id: str | None = None


class FeedbackMemorySchema(BaseModel):
    """What the attempts of a phase taught."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    sprint_id: UUID
    phase: str
    max_attempts: int = Field(default=defaults.MAX_ATTEMPTS, ge=1)
    current_attempt: int = Field(default=1, ge=1)
    attempts: list[AttemptRecord] = []
    accumulated_context: dict[str, Any] = {}
    escalated: bool = False
    escalation_reason: str | None = None
