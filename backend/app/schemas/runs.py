"""The kinds and states of runs, and the policy that decides them."""

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from app.schemas import defaults
from app.schemas.questions import BaseFailures, ProtectedPolicy
from app.schemas.text import PathGlob, TestGlob

MAX_OPEN_PATHS = 50


class ModelRole(StrEnum):
    """The role that asks a model: the agent, a judge, a loop's director, or the writer of an answer."""

    AGENT = "agent"
    JUDGE = "judge"
    DIRECTOR = "director"
    ANSWER = "answer"


class RunKind(StrEnum):
    """The kind of a run."""

    SPRINT = "sprint"
    DIRECTOR_LOOP = "director_loop"
    ANSWER = "answer"

    @property
    def word(self) -> str:
        """Return the word for a run of this kind in messages and, in the plural, in paths."""
        return {"director_loop": "loop"}.get(self.value, self.value)


class RunStatus(StrEnum):
    """The state of a run. `WAITING` is for a person; the last three are final."""

    QUEUED = "queued"
    ACTIVE = "active"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Return whether nothing more happens to the run."""
        return self in (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED)


class Phase(StrEnum):
    """The phases of a sprint, in order."""

    DISCOVERY = "discovery"
    CODING = "coding"
    VERIFICATION = "verification"


class PhaseOfRun(StrEnum):
    """The phases of every kind of run; loops and answers have one each."""

    DISCOVERY = "discovery"
    CODING = "coding"
    VERIFICATION = "verification"
    LOOP = "loop"
    ANSWER = "answer"


class AttemptState(StrEnum):
    """How far one attempt has come.

    `STARTED` or `EVALUATING` without a live worker means that the worker was lost. `AGENT_FAILED` waits for
    another try of the agent under the same number. `DELEGATED` rests until the subtask that its director
    requested is over. `PRODUCED` has output but no verdict.
    """

    STARTED = "started"
    AGENT_FAILED = "agent_failed"
    DELEGATED = "delegated"
    PRODUCED = "produced"
    EVALUATING = "evaluating"
    PASSED = "passed"
    FAILED = "failed"


class SubtaskState(StrEnum):
    """The state of the subtask that a delegated attempt waits for: requested, at work, or over in any way."""

    WANTED = "wanted"
    AT_WORK = "at_work"
    OVER = "over"


class AttemptClosing(StrEnum):
    """How an attempt by itself decides its run, whatever its verdict.

    `CONDITION`: the run's termination condition is met. `HUMAN`: the agent says that it needs a person.
    `ERROR`: it could not be carried out, and is not tried again.
    """

    CONDITION = "condition"
    HUMAN = "human"
    ERROR = "error"


class WhenExhausted(StrEnum):
    """What happens after the last attempt has failed.

    A sprint asks a person; a director-evaluator loop returns its history; an answer is returned in part.
    """

    ESCALATE = "escalate"
    RETURN_HISTORY = "return_history"
    RETURN_PARTIAL = "return_partial"


class EscalationReason(StrEnum):
    """Why a person is asked. `QUESTION`: only a question about changed tests is open.

    `BUDGET_EXHAUSTED` is the run's own budget, which a retry grants again; `DAY_BUDGET_EXHAUSTED` is the
    operator's for a day, which no reviewer grants.
    """

    ATTEMPTS_EXHAUSTED = "attempts_exhausted"
    NO_PROGRESS = "no_progress"
    BUDGET_EXHAUSTED = "budget_exhausted"
    DAY_BUDGET_EXHAUSTED = "day_budget_exhausted"
    AGENT_UNAVAILABLE = "agent_unavailable"
    EVALUATOR_UNAVAILABLE = "evaluator_unavailable"
    WORKER_LOST = "worker_lost"
    HUMAN_ASKED = "human_asked"
    QUESTION = "question"


class EscalationDecision(StrEnum):
    """What a person can decide."""

    ACCEPT = "accept"
    RETRY = "retry"
    REJECT = "reject"


class RetryFrom(StrEnum):
    """The tree from which a retry starts: that of the previous attempt, or what the phase started from."""

    PREVIOUS = "previous"
    BASE = "base"


class RetryContext(StrEnum):
    """The conversation with which a retry starts: a new one with the lessons so far, or the previous one."""

    FRESH = "fresh"
    CONTINUE = "continue"


class HeldOutFeedback(StrEnum):
    """What an agent learns when held-out tests fail.

    `NONE`: that tests fail. `NAMES`: the names of failing tests, without parameters. `MESSAGES`: also their
    messages, and with them what they expect.
    """

    NONE = "none"
    NAMES = "names"
    MESSAGES = "messages"


Number = TypeVar("Number", int, float)


def min_of(one: Number | None, other: Number | None) -> Number | None:
    """Return the stricter of two limits; None sets no limit."""
    given = [each for each in (one, other) if each is not None]
    return min(given) if given else None


class Budget(BaseModel):
    """What a run may consume, judges included; None sets no bound."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    tokens: int | None = Field(default=None, ge=1)
    cost_usd: float | None = Field(default=None, gt=0.0, allow_inf_nan=False)


class Usage(BaseModel):
    """Consumption so far. An unknown cost is null, never zero."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    requests: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    @classmethod
    def total(cls, parts: Iterable["Usage"]) -> "Usage":
        """Return the sum; its cost covers the parts whose cost is known, and is null if there are none."""
        every = list(parts)
        costs = [each.cost_usd for each in every if each.cost_usd is not None]
        return cls(
            requests=sum(each.requests for each in every),
            tool_calls=sum(each.tool_calls for each in every),
            input_tokens=sum(each.input_tokens for each in every),
            output_tokens=sum(each.output_tokens for each in every),
            cost_usd=sum(costs) if costs else None,
        )

    def less(self, before: "Usage") -> "Usage":
        """Return what was consumed since `before`, which is part of this."""
        cost = self.cost_usd
        return Usage(
            requests=self.requests - before.requests,
            tool_calls=self.tool_calls - before.tool_calls,
            input_tokens=self.input_tokens - before.input_tokens,
            output_tokens=self.output_tokens - before.output_tokens,
            cost_usd=None if cost is None else cost - (before.cost_usd or 0.0),
        )


class RunPolicy(BaseModel):
    """The figures that decide a run; stored with the run, so that later defaults do not change it.

    Thresholds are in [0, 1], and seconds are wall-clock time. `max_*` counts include the last one
    allowed. A run waits for an unavailable model until `max_agent_failures` tries have failed and
    `max_unavailable_seconds` have passed. It waits for the end of a provider's limit if that is at
    most `max_reset_wait_seconds` away. With `safe_fixes`, ruff's safe fixes are applied to the agent's
    output before it is judged. `open_paths` are protected files that this run may change. `protected`,
    `base_failures` and `goal_tests` decide the effect of changed tests and of tests that already fail
    at the base; if they are not given, the project file decides, and then the service's settings.
    `held_out_feedback` is what an agent learns when held-out tests fail. `when_exhausted`
    distinguishes the kinds of runs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, serialize_by_alias=True)

    attempts_per_phase: int = Field(
        default=defaults.MAX_ATTEMPTS,
        ge=1,
        le=100,
        validation_alias=AliasChoices("attempts_per_phase", "max_attempts"),
        serialization_alias="max_attempts",  # the stored name, which workers of every version read
    )
    pass_threshold: float = Field(default=defaults.PASS_THRESHOLD, ge=0.0, le=1.0)
    blocking_threshold: float = Field(default=defaults.BLOCKING_THRESHOLD, ge=0.0, le=1.0)
    deterministic_only: bool = False
    safe_fixes: bool = False
    retry_from: RetryFrom = RetryFrom.PREVIOUS
    retry_context: RetryContext = RetryContext.FRESH
    max_agent_failures: int = Field(default=4, ge=1, le=100)
    max_evaluation_failures: int = Field(default=3, ge=1, le=100)
    max_lost_workers: int = Field(default=3, ge=1, le=100)
    retry_base_seconds: float = Field(default=2.0, ge=0.0, le=3600.0)
    max_unavailable_seconds: float = Field(default=600.0, ge=0.0, le=86_400.0)
    max_reset_wait_seconds: float = Field(default=86_400.0, ge=0.0, le=2_678_400.0)
    open_paths: tuple[PathGlob, ...] = ()
    protected: ProtectedPolicy | None = None
    base_failures: BaseFailures | None = None
    goal_tests: tuple[TestGlob, ...] = ()
    held_out_feedback: HeldOutFeedback = HeldOutFeedback.NAMES
    budget: Budget = Budget()
    when_exhausted: WhenExhausted = WhenExhausted.ESCALATE
