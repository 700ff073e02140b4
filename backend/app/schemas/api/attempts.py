"""Attempts in the API: verdicts, candidates, prompts and diffs."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.api.marks import MarkView
from app.schemas.evaluation import CriterionResultSchema
from app.schemas.runs import AttemptState, Usage
from app.schemas.workspaces import Diff

EvaluationStatusName = Literal["passed", "failed", "errored", "skipped"]


class EvaluationView(BaseModel):
    """An evaluator's stored verdict. `score` is in [0, 1]; `marks` has the newest first."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    evaluator: str
    version: str
    category: str
    gate: bool
    observed: bool = Field(default=False, description="Whether the gate is observed: it blocks nothing.")
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
    """Consecutive lines of a prompt, compared with the prompt of the previous attempt."""

    model_config = ConfigDict(frozen=True)

    kind: PromptPartKind
    text: str


class CandidateView(BaseModel):
    """What one agent produced in an attempt.

    `metrics` holds what it used (requests, tool_calls, input_tokens, output_tokens, cost_usd) and `seconds`.
    `continued` tells that the agent continued the conversation of the previous attempt. `session_note` says
    why it did not, although it was asked to.
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
    continued: bool = False
    session_note: str = ""
    chosen: bool
    evaluations: list[EvaluationView]


class AttemptView(BaseModel):
    """An attempt with its verdicts; `verdict` is null until the attempt is evaluated.

    `choice_reason` says why one of several candidates was chosen; it is empty if there was no choice.
    `steered` tells that a person sent the agent a message. `vendor_login` tells that an agent reached public
    addresses and used the operator's login at its vendor, so its cost is unknown.
    """

    model_config = ConfigDict(frozen=True)

    id: UUID
    phase: str
    number: int
    status: AttemptState
    verdict: str | None
    verdict_reason: str
    score: float | None
    choice_reason: str = ""
    output: str
    base_commit: str
    head_commit: str | None
    changed_files: list[str]
    usage: Usage
    agent_failures: int
    evaluation_failures: int
    lost_workers: int
    last_error: str
    steered: bool = False
    vendor_login: bool = False
    trace_id: str | None
    started_at: datetime
    produced_at: datetime | None
    completed_at: datetime | None
    evaluations: list[EvaluationView]


class AttemptDetail(AttemptView):
    """An attempt with its prompt and every candidate.

    Attributes:
        prompt: exactly what the agent received.
        prompt_changes: the prompt compared with that of the previous attempt; `added` parts are new. Null for
            a first attempt.
        optimization_context: what the prompt is made from: feedback, recurring issues, analysis.
        evaluation_usage: consumed by evaluators that ask a model; `usage` is the agents'.
    """

    prompt: str
    prompt_changes: list[PromptPart] | None
    optimization_context: dict[str, Any]
    evaluation_usage: Usage
    candidates: list[CandidateView]


class AttemptDiff(Diff):
    """What an attempt changed.

    `files` names every changed file. Patches above 200 KB per file or 1 MB in total are cut at a line end and
    marked `truncated`; a file requested by `path` is complete up to 32 MB.

    Attributes:
        base_commit: the commit that the attempt is compared with.
        head_commit: the attempt's output.
        additions: lines added in the listed files.
        deletions: lines removed in them.
    """

    base_commit: str
    head_commit: str
    additions: int
    deletions: int


class UnfinishedDiff(Diff):
    """What an agent at work has changed so far; patches are cut at 100 KB per file and 500 KB in total.

    Attributes:
        base_commit: the files that the attempt started with, which are compared with.
        changed_files: number of changed files; `files` has the first 1,000 of them.
        additions: lines added in all of them.
        deletions: lines removed in all of them.
        taken_at: when the workspace was read.
    """

    base_commit: str
    changed_files: int
    additions: int
    deletions: int
    taken_at: datetime
