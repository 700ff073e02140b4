"""Escalations as the API shows them, and the decisions that resolve them."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.schemas.api.marks import MarkCreate
from app.schemas.questions import Question
from app.schemas.runs import MAX_OPEN_PATHS, EscalationDecision, EscalationReason, RunKind
from app.schemas.text import CleanText, PathGlob, RelativePath

EscalationStatus = Literal["open", "resolved", "withdrawn"]

MAX_GUIDANCE_CHARS = 20_000
MAX_LINE_COMMENTS = 200


class LineComment(BaseModel):
    """A comment on one line of the diff, which the next prompts contain."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: RelativePath = Field(min_length=1, max_length=4096)
    line: int = Field(ge=1, le=2**31 - 1, description="Line number in the file as the attempt left it.")
    body: CleanText = Field(min_length=1, max_length=4000)


class VerdictMarkIn(MarkCreate):
    """A mark on one verdict of the escalated attempt."""

    evaluation_id: UUID


class EscalationResolve(BaseModel):
    """A reviewer's decision.

    `retry` grants `additional_attempts` attempts (default 1); their prompts contain guidance and line
    comments. `accept` also unprotects the files that the accepted attempt changed; if it answers questions,
    it allows exactly the changes in question. A loop ends with its last output, an answer with its best safe
    attempt. `reject` fails the run. `version` is the version that the reviewer saw; if the escalation has
    changed since, the response is 409.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"decision": "retry", "guidance": "Round half up, as invoices do.", "additional_attempts": 2},
                {"decision": "accept", "guidance": "The remaining finding is a false alarm."},
                {"decision": "reject"},
            ]
        },
    )

    decision: EscalationDecision
    guidance: CleanText = Field(default="", max_length=MAX_GUIDANCE_CHARS)
    line_comments: list[LineComment] = Field(default=[], max_length=MAX_LINE_COMMENTS)
    additional_attempts: int | None = Field(default=None, ge=1, le=20)
    verdict_marks: list[VerdictMarkIn] = Field(default=[], max_length=100)
    open_paths: list[PathGlob] = Field(
        default=[],
        max_length=MAX_OPEN_PATHS,
        description="Globs of protected files that the run may change from now on.",
    )
    version: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _only_retry_grants_attempts(self) -> "EscalationResolve":
        if self.additional_attempts is not None and self.decision is not EscalationDecision.RETRY:
            raise ValueError("additional_attempts is only for the decision 'retry'")
        return self


class EscalationView(BaseModel):
    """One escalation."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    run_id: UUID
    run_name: str
    kind: RunKind
    phase: str
    attempt: int
    reason_kind: EscalationReason
    reason: str
    status: EscalationStatus
    decision: EscalationDecision | None
    guidance: str
    line_comments: list[LineComment]
    additional_attempts: int
    decided_by: str | None
    decided_at: datetime | None
    version: int
    created_at: datetime
    questions: list[Question] = Field(
        default=[],
        description="What is asked about changed tests; given only when one escalation is read.",
    )
    changed_files: list[str] | None = Field(
        default=None,
        description="What the escalated attempt changed, empty if it changed no file; "
        "given only when one escalation is read.",
    )


class EscalationPage(BaseModel):
    """A page of escalations, oldest first; `next_cursor` is null on the last page."""

    items: list[EscalationView]
    next_cursor: str | None
