"""The figures that decide runs, in requests and responses."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.schemas.questions import BaseFailures, ProtectedPolicy
from app.schemas.runs import (
    MAX_OPEN_PATHS,
    Budget,
    HeldOutFeedback,
    RetryContext,
    RetryFrom,
    RunPolicy,
    WhenExhausted,
)
from app.schemas.text import PathGlob, TestGlob


class PolicyOverrides(BaseModel):
    """Limits of one run that override the service's settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attempts_per_phase: int | None = Field(
        default=None, ge=1, le=20, description="Attempts per phase before a person is asked."
    )
    max_attempts: int | None = Field(
        default=None,
        ge=1,
        le=20,
        description="The former name of `attempts_per_phase`.",
        json_schema_extra={"deprecated": True},
    )
    pass_threshold: float | None = Field(default=None, ge=0.0, le=1.0)
    blocking_threshold: float | None = Field(default=None, ge=0.0, le=1.0)
    deterministic_only: bool | None = None
    safe_fixes: bool | None = None
    retry_from: RetryFrom | None = None
    retry_context: RetryContext | None = Field(
        default=None,
        description="Conversation of a retry: fresh (default), or continue the previous one.",
    )
    budget: Budget | None = None
    open_paths: list[PathGlob] | None = Field(
        default=None,
        max_length=MAX_OPEN_PATHS,
        description="Globs of existing tests and tool configuration that this run may change.",
    )
    protected: ProtectedPolicy | None = Field(
        default=None,
        description="Effect of changed tests and settings: fail, ask a person (default), or note.",
    )
    base_failures: BaseFailures | None = Field(
        default=None,
        description="Which tests that fail at the base count: goal (default), must_pass, ignore.",
    )
    goal_tests: list[TestGlob] | None = Field(
        default=None,
        max_length=MAX_OPEN_PATHS,
        description="Globs of ids of failing tests that this run should fix.",
    )
    held_out_feedback: HeldOutFeedback | None = Field(
        default=None,
        description="What the agent learns when held-out tests fail: none, names (default) or messages.",
    )

    @model_validator(mode="after")
    def _attempts_have_one_name(self) -> Self:
        if self.attempts_per_phase is not None and self.max_attempts is not None:
            raise ValueError("max_attempts is the former name of attempts_per_phase; give only the latter")
        return self


class PolicyView(BaseModel):
    """The figures that decide a run.

    `attempts_per_phase` is what the run started with. `max_attempts` of a run and of its phases is what is
    allowed now: it also counts the attempts that reviewers granted.
    """

    model_config = ConfigDict(frozen=True)

    attempts_per_phase: int
    pass_threshold: float
    blocking_threshold: float
    deterministic_only: bool
    safe_fixes: bool
    retry_from: RetryFrom
    retry_context: RetryContext
    max_agent_failures: int
    max_evaluation_failures: int
    max_lost_workers: int
    retry_base_seconds: float
    max_unavailable_seconds: float
    max_reset_wait_seconds: float
    open_paths: tuple[PathGlob, ...]
    protected: ProtectedPolicy | None
    base_failures: BaseFailures | None
    goal_tests: tuple[TestGlob, ...]
    held_out_feedback: HeldOutFeedback
    budget: Budget
    when_exhausted: WhenExhausted

    @classmethod
    def of(cls, policy: RunPolicy) -> Self:
        """Return the view of a policy."""
        return cls(**dict(policy))
