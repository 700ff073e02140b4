"""Sprints, attempts and verdicts as the API speaks of them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from app.schemas.agents import AgentSpec
from app.schemas.api.escalations import MAX_GUIDANCE_CHARS, EscalationView
from app.schemas.api.marks import MarkView
from app.schemas.evaluation import CriterionResultSchema
from app.schemas.questions import BaseFailures, ProtectedPolicy, Question
from app.schemas.runs import (
    MAX_OPEN_PATHS,
    AttemptState,
    Budget,
    Phase,
    RetryFrom,
    RunKind,
    RunPolicy,
    RunStatus,
    Usage,
)
from app.schemas.text import MAX_GOAL_CHARS, CleanLine, CleanText, PathGlob, TestGlob, clean_text
from app.schemas.workspaces import Diff, WorkspaceSource

DEFAULT_PHASES = (Phase.DISCOVERY, Phase.CODING, Phase.VERIFICATION)

Goal = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_GOAL_CHARS)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]

EvaluationStatusName = Literal["passed", "failed", "errored", "skipped"]


class PolicyOverrides(BaseModel):
    """Figures that differ from the service's settings for this sprint."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_attempts: int | None = Field(default=None, ge=1, le=20)
    pass_threshold: float | None = Field(default=None, ge=0.0, le=1.0)
    blocking_threshold: float | None = Field(default=None, ge=0.0, le=1.0)
    deterministic_only: bool | None = None
    safe_fixes: bool | None = None
    retry_from: RetryFrom | None = None
    budget: Budget | None = None
    open_paths: list[PathGlob] | None = Field(
        default=None,
        max_length=MAX_OPEN_PATHS,
        description="Globs of existing tests and tool configuration that this sprint may change.",
    )
    protected: ProtectedPolicy | None = Field(
        default=None,
        description="What becomes of changed tests and settings: fail, ask a human (default), or note.",
    )
    base_failures: BaseFailures | None = Field(
        default=None,
        description="Which tests that fail at the base count: goal (default), must_pass, ignore.",
    )
    goal_tests: list[TestGlob] | None = Field(
        default=None,
        max_length=MAX_OPEN_PATHS,
        description="Globs of ids of failing tests that this sprint is to make pass.",
    )


class SprintCreate(BaseModel):
    """What a sprint needs to start."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "goal": "Parse durations such as 1h30m; the tests in tests/test_duration.py say how.",
                    "source": {"kind": "local", "path": "/home/me/project"},
                    "policy": {"max_attempts": 3},
                }
            ]
        },
    )

    goal: Goal
    name: Name | None = None
    source: WorkspaceSource
    phases: list[Phase] = Field(default=list(DEFAULT_PHASES), min_length=1)
    agent: AgentSpec = AgentSpec()
    policy: PolicyOverrides = PolicyOverrides()

    @field_validator("goal", "name")
    @classmethod
    def _no_control_characters(cls, value: str | None) -> str | None:
        return value if value is None else clean_text(value)

    @field_validator("phases")
    @classmethod
    def _in_order(cls, value: list[Phase]) -> list[Phase]:
        if value != [phase for phase in Phase if phase in value]:
            raise ValueError("phases run in the order discovery, coding, verification, each at most once")
        return value


class EvaluationView(BaseModel):
    """One evaluator's stored verdict. `score` in [0, 1]; `marks` are reviewers' words on it, newest first."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    evaluator: str
    version: str
    category: str
    gate: bool
    status: EvaluationStatusName
    passed: bool
    score: float
    feedback: str
    criteria: list[CriterionResultSchema]
    suggestions: list[str]
    metadata: dict[str, Any]
    duration_ms: int | None
    trace_id: str | None
    evaluated_at: datetime
    marks: list[MarkView] = []


PromptPartKind = Literal["same", "added", "removed"]


class PromptPart(BaseModel):
    """Some whole lines of a prompt, compared with that of the attempt before."""

    model_config = ConfigDict(frozen=True)

    kind: PromptPartKind
    text: str


class CandidateView(BaseModel):
    """What one agent produced in an attempt.

    `metrics` holds what it used (requests, tool_calls, input_tokens, output_tokens, cost_usd) and `seconds`.
    """

    model_config = ConfigDict(frozen=True)

    id: UUID
    index: int
    agent: str
    provider: str
    model: str | None
    output: str
    error: str | None
    metrics: dict[str, Any]
    head_commit: str | None
    changed_files: list[str]
    chosen: bool
    evaluations: list[EvaluationView]


class AttemptView(BaseModel):
    """One attempt with its verdicts; `verdict` is null until it is judged."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    phase: str
    number: int
    status: AttemptState
    verdict: str | None
    verdict_reason: str
    score: float | None
    output: str
    base_commit: str
    head_commit: str | None
    changed_files: list[str]
    usage: Usage
    agent_failures: int
    evaluation_failures: int
    lost_workers: int
    last_error: str
    trace_id: str | None
    started_at: datetime
    produced_at: datetime | None
    completed_at: datetime | None
    evaluations: list[EvaluationView]


class AttemptDetail(AttemptView):
    """An attempt with the prompt it was given and every candidate.

    Attributes:
        prompt: exactly what the agent was given.
        prompt_changes: the prompt in parts, compared with that of the attempt before: what is `added` is what
            this attempt was told beyond it. Null for a first attempt.
        optimization_context: what the prompt was made of: feedback, recurring issues, analysis.
        evaluation_usage: what the evaluators that ask a model consumed; `usage` is the agents'.
    """

    prompt: str
    prompt_changes: list[PromptPart] | None
    optimization_context: dict[str, Any]
    evaluation_usage: Usage
    candidates: list[CandidateView]


class AttemptDiff(Diff):
    """What an attempt changed.

    `files` names every changed file. Patches beyond 200 KB of one file or 1 MB together are cut at a line end
    and marked `truncated`; asked for by `path`, a file is whole up to 32 MB.

    Attributes:
        base_commit: what it is compared with.
        head_commit: the attempt's output.
        additions: lines added in the files that are named.
        deletions: lines removed in them.
    """

    base_commit: str
    head_commit: str
    additions: int
    deletions: int


class PhaseView(BaseModel):
    """Where one phase of the plan stands."""

    model_config = ConfigDict(frozen=True)

    phase: str
    status: str = Field(description="pending, active, waiting, completed, failed or cancelled")
    attempts: int
    max_attempts: int
    score: float | None


class PauseView(BaseModel):
    """Since when a sprint is held, by whom and why."""

    model_config = ConfigDict(frozen=True)

    at: datetime
    by: str
    reason: str


class ForkOrigin(BaseModel):
    """The attempt of another sprint whose commit a sprint began with."""

    model_config = ConfigDict(frozen=True)

    run_id: UUID
    phase: str
    attempt: int
    commit: str


class ListedRun(BaseModel):
    """A run in a list: everything short that is known of it. `attempt` is the latest of the current phase."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    kind: RunKind
    name: str
    status: RunStatus
    status_reason: str
    phase: str | None
    attempt: int | None
    max_attempts: int
    agent: str = Field(description="Who does the work; a script says that it is one.")
    scripted: bool
    project: str = Field(default="", description="Where the source is: a path or a URL.")
    score: float | None = Field(
        default=None, description="The score of the latest judged attempt; null before there is one."
    )
    usage: Usage
    escalation_id: UUID | None = Field(description="The open escalation, if a human is asked.")
    paused: PauseView | None = Field(
        default=None, description="Set while a human holds the sprint; `status` says what it goes on with."
    )
    forked_from: ForkOrigin | None = Field(
        default=None, description="The attempt it began with, if it was forked from another sprint."
    )
    last_sequence: int = Field(default=0, description="The number of the run's latest event.")
    version: int = Field(default=1, description="Grows with each change of where the run stands.")
    created_by: str
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class SprintView(ListedRun):
    """One sprint, as lists show it."""

    goal: str


class SprintDetail(SprintView):
    """One sprint, whole."""

    source: dict[str, Any]
    guidance: list[str] = Field(default=[], description="Pinned in the prompt of every attempt.")
    policy: RunPolicy
    base_commit: str
    head_commit: str
    phases: list[PhaseView]
    attempts: list[AttemptView]
    escalations: list[EscalationView]


class SprintPage(BaseModel):
    """A page of sprints, newest first; `next_cursor` is null on the last page."""

    items: list[SprintView]
    next_cursor: str | None


class SprintCancel(BaseModel):
    """Why a sprint is cancelled."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: CleanText = Field(default="", max_length=2000)


class SprintPause(BaseModel):
    """Why a sprint is held."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: CleanText = Field(default="", max_length=2000)


class SprintFork(BaseModel):
    """The attempt a new sprint begins with, and what is different there.

    The new sprint begins in the attempt's phase, with what the attempt left. It is judged against the same
    base, with the policy of the sprint that it comes from; what is given here takes precedence.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"phase": "coding", "attempt": 2, "guidance": "Keep the parser; mend only the rounding."}
            ]
        },
    )

    phase: Phase
    attempt: int = Field(ge=1, le=2**31 - 1, description="Number of the attempt within its phase.")
    guidance: CleanText = Field(default="", max_length=MAX_GUIDANCE_CHARS)
    name: Name | None = None
    agent: AgentSpec | None = Field(default=None, description="Who works; by default the same as before.")
    policy: PolicyOverrides = PolicyOverrides()

    @field_validator("name")
    @classmethod
    def _no_control_characters(cls, value: str | None) -> str | None:
        return value if value is None else clean_text(value)


class EvaluateRequest(BaseModel):
    """Judge a local workspace without any agent; `base` is a git reference in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: CleanLine = Field(min_length=1, max_length=4096)
    base: CleanLine | None = Field(default=None, min_length=1, max_length=500)
    phase: Phase = Phase.CODING
    goal: CleanText = Field(default="", max_length=MAX_GOAL_CHARS)
    output: CleanText = Field(default="", max_length=MAX_GOAL_CHARS)
    deterministic_only: bool = False


class JudgedEvaluation(BaseModel):
    """One evaluator's result in a report that is not stored."""

    model_config = ConfigDict(frozen=True)

    gate: bool
    result: dict[str, Any]


class EvaluationReport(BaseModel):
    """The verdict on a workspace, with the evidence."""

    model_config = ConfigDict(frozen=True)

    phase: str
    verdict: str = Field(description="passed, failed, errored, or asks: only a question to a human is open.")
    score: float | None
    reason: str
    questions: list[Question] = Field(
        default=[], description="What a human is asked about changed tests, with both versions of each."
    )
    base_commit: str | None
    project_file: str | None = Field(
        default=None, description="Which phaserunner.toml counted; null when there is none."
    )
    evaluations: list[JudgedEvaluation]
