"""Evaluations of a local workspace without an agent: the request and the report."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.baseline import BaselineSummary
from app.schemas.held_out import HeldOutAtBase, HeldOutInput
from app.schemas.questions import Question
from app.schemas.runs import Phase
from app.schemas.text import MAX_GOAL_CHARS, CleanLine, CleanText


class EvaluateRequest(BaseModel):
    """A local workspace to evaluate; `base` is a Git reference in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: CleanLine = Field(min_length=1, max_length=4096)
    base: CleanLine | None = Field(default=None, min_length=1, max_length=500)
    phase: Phase = Phase.CODING
    goal: CleanText = Field(default="", max_length=MAX_GOAL_CHARS)
    output: CleanText = Field(default="", max_length=MAX_GOAL_CHARS)
    deterministic_only: bool = False
    baseline: bool = Field(
        default=False,
        description="Whether to run the tests of `base` on its own code first, and name those that fail.",
    )
    held_out: HeldOutInput | None = Field(
        default=None, description="More tests, added to the directory when it is evaluated; needs `base`."
    )


class JudgedEvaluation(BaseModel):
    """One evaluator's result in a report that is not stored."""

    model_config = ConfigDict(frozen=True)

    gate: bool
    observed: bool = Field(default=False, description="Whether the gate is observed: it blocks nothing.")
    result: dict[str, Any]


class EvaluationReport(BaseModel):
    """The verdict on a workspace, with the evidence."""

    model_config = ConfigDict(frozen=True)

    phase: str
    verdict: str = Field(description="passed, failed, errored, or asks: only a question to a person is open.")
    score: float | None
    reason: str
    questions: list[Question] = Field(
        default=[], description="Questions about changed tests, with both versions of each."
    )
    base_commit: str | None
    project_file: str | None = Field(
        default=None, description="The phaserunner.toml that was applied; null if there is none."
    )
    held_out: HeldOutAtBase | None = Field(
        default=None, description="What held-out tests do on the base's own code; null if there are none."
    )
    baseline: BaselineSummary | None = Field(
        default=None, description="What the base's tests do on its own code; null unless asked for."
    )
    evaluations: list[JudgedEvaluation]
