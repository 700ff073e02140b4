"""Defines an evaluator: a context in, a result out."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol, TypedDict, cast, runtime_checkable
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from app.schemas import defaults
from app.schemas.baseline import Baseline
from app.schemas.questions import QUESTIONS, BaseFailures, ProtectedPolicy, Question

BLOCKING_THRESHOLD = defaults.BLOCKING_THRESHOLD
"""A failed criterion that scores below this blocks (default of `EVALUATOR_BLOCKING_THRESHOLD`)."""

FOR_REVIEWERS = "for_reviewers"
"""Member of a result's metadata: an object with `feedback` that people read and no agent gets."""


class EvaluationCategory(StrEnum):
    """The aspect of the work that an evaluator judges."""

    FUNCTIONALITY = "functionality"
    CORRECTNESS = "correctness"
    COMPLETENESS = "completeness"
    SECURITY = "security"
    PERFORMANCE = "performance"
    MAINTAINABILITY = "maintainability"
    COMPLIANCE = "compliance"
    DOCUMENTATION = "documentation"
    TESTING = "testing"
    TEST_COVERAGE = "test_coverage"


class EvaluationStatus(StrEnum):
    """The outcome of one evaluation.

    `SKIPPED` means there was nothing to check; it is never evidence that a gate passes. `ERRORED` means that
    the evaluator itself reached no verdict (crash, missing tool, unreadable report, model outage).
    """

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    SKIPPED = "skipped"


class CriterionResult(BaseModel):
    """One criterion of an evaluation. `score` is in [0, 1]."""

    model_config = ConfigDict(frozen=True)

    criterion: str
    passed: bool
    score: float = Field(default=0.0, ge=0.0, le=1.0)
    message: str = ""
    evidence: str | None = None


class EvaluationResult(BaseModel):
    """One evaluator's result for one output.

    If `status` is not given, it is derived from `passed`. `errored` and `failed` imply `passed=False`;
    `skipped` and `passed` imply `passed=True`; a contradiction is a `ValueError`.
    """

    model_config = ConfigDict(frozen=True)

    evaluator_name: str
    category: EvaluationCategory
    passed: bool
    score: float = Field(default=0.0, ge=0.0, le=1.0)
    feedback: str
    criteria: list[CriterionResult] = []
    suggestions: list[str] = []
    metadata: dict[str, Any] = {}
    status: EvaluationStatus = EvaluationStatus.FAILED
    evaluator_version: str = "1"
    duration_ms: int | None = Field(default=None, ge=0)
    trace_id: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _derive_status(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        given = cast("Mapping[str, Any]", data)
        if given.get("status") is not None:
            return given
        return {
            **given,
            "status": EvaluationStatus.PASSED if given.get("passed") else EvaluationStatus.FAILED,
        }

    @model_validator(mode="after")
    def _status_agrees(self) -> "EvaluationResult":
        if self.passed != (self.status in (EvaluationStatus.PASSED, EvaluationStatus.SKIPPED)):
            raise ValueError(f"passed={self.passed} contradicts status={self.status.value}")
        return self

    @property
    def questions(self) -> list[Question]:
        """The questions of a failed result for a person. If there are any, nothing else prevents a pass."""
        asked = self.metadata.get(QUESTIONS)
        if self.status is not EvaluationStatus.FAILED or not isinstance(asked, list):
            return []
        try:
            return [Question.model_validate(each) for each in cast("list[object]", asked)]
        except ValidationError:
            # An evaluator of another package may store something else under this name.
            return []

    @property
    def failed_criteria(self) -> list[CriterionResult]:
        """The criteria that did not pass."""
        return [criterion for criterion in self.criteria if not criterion.passed]

    @property
    def blocking_issues(self) -> list[str]:
        """Messages of the failed criteria that score below the blocking threshold."""
        return self.blocking_issues_below(BLOCKING_THRESHOLD)

    def blocking_issues_below(self, threshold: float) -> list[str]:
        """Messages of the failed criteria that score below `threshold`."""
        return [criterion.message for criterion in self.failed_criteria if criterion.score < threshold]


class EvaluationLimits(TypedDict, total=False):
    """Limits on one evaluation: wall-clock `seconds`, and `output_bytes` to keep of a tool's output."""

    seconds: float
    output_bytes: int


class EvaluationContext(TypedDict, total=False):
    """What an evaluator may read.

    Attributes:
        workspace_ref: path of the judged working tree.
        base_ref: path of a tree with the run's base commit; findings that are also there are not new.
        goal: the run's goal in the user's words.
        attempt: number of the attempt, from 1.
        previous_feedback: feedback on the previous attempt.
        run_id: the run, for traces.
        limits: limits that replace the evaluator's own.
        open_paths: globs of protected files that this run may change; see `protection`.
        protected_paths: globs of further files that no run may change.
        protected_policy: what happens to changes of protected files; by default the evaluator's own policy.
        base_failures: which tests that fail at the base count; by default the evaluator's own policy.
        goal_tests: globs of ids of tests that belong to the goal.
        known_failures: globs of ids of tests that the project knows to fail.
        baseline: results of the base's tests when the run started.
        deterministic_results: results of the tools; only evaluators that ask a model get them.
    """

    workspace_ref: str
    base_ref: str | None
    goal: str
    attempt: int
    previous_feedback: list[str]
    run_id: UUID | None
    limits: EvaluationLimits
    open_paths: list[str]
    protected_paths: list[str]
    protected_policy: ProtectedPolicy
    base_failures: BaseFailures
    goal_tests: list[str]
    known_failures: list[str]
    baseline: Baseline
    deterministic_results: list[EvaluationResult]


class EvaluatorIdentity(Protocol):
    """What a result says about the evaluator that gave it."""

    @property
    def name(self) -> str:
        """Unique within a phase, `snake_case`."""
        ...

    @property
    def category(self) -> EvaluationCategory:
        """The aspect it judges."""
        ...


@runtime_checkable
class Evaluator(EvaluatorIdentity, Protocol):
    """Judges the output of a phase.

    `evaluate` returns a value for every expected error (`errored`). It is cancelled by cancelling its task,
    and leaves no process behind.
    """

    @property
    def is_deterministic(self) -> bool:
        """True for tools, False for models; deterministic evaluators run first."""
        ...

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Judge `output`, the agent's final message, and the workspace in `context`."""
        ...


@runtime_checkable
class ConfigurableEvaluator(Evaluator, Protocol):
    """An evaluator that accepts options from a project's file."""

    def with_options(self, options: Mapping[str, object]) -> Evaluator:
        """Return the same evaluator with these options.

        Raises:
            ValueError: an option is unknown or not valid. The message says which.
        """
        ...


def errored(
    evaluator: EvaluatorIdentity, reason: str, /, *, version: str = "1", **metadata: Any
) -> EvaluationResult:
    """Return the result of an evaluator that reached no verdict."""
    return EvaluationResult(
        evaluator_name=evaluator.name,
        category=evaluator.category,
        passed=False,
        feedback=reason,
        status=EvaluationStatus.ERRORED,
        evaluator_version=version,
        metadata=metadata,
    )


def skipped(
    evaluator: EvaluatorIdentity, reason: str, /, *, version: str = "1", **metadata: Any
) -> EvaluationResult:
    """Return the result of an evaluator that found nothing to check."""
    return EvaluationResult(
        evaluator_name=evaluator.name,
        category=evaluator.category,
        passed=True,
        score=1.0,
        feedback=reason,
        status=EvaluationStatus.SKIPPED,
        evaluator_version=version,
        metadata=metadata,
    )
