"""Escalations in the API, and the decisions that resolve them."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.schemas.api.marks import MarkCreate
from app.schemas.moments import Moment
from app.schemas.questions import Question
from app.schemas.runs import MAX_OPEN_PATHS, EscalationDecision, EscalationReason, RunKind
from app.schemas.text import CleanLine, CleanText, PathGlob, RelativePath

EscalationStatus = Literal["open", "resolved", "withdrawn"]
DiffSide = Literal["new", "old"]

MAX_GUIDANCE_CHARS = 20_000
MAX_LINE_COMMENTS = 200
MAX_CHOICES = 50


class LineComment(BaseModel):
    """A comment on one or several lines of the diff; the next prompts contain it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: RelativePath = Field(min_length=1, max_length=4096)
    line: int = Field(
        ge=1, le=2**31 - 1, description="The line, or the last line of a range, in the file of `side`."
    )
    start_line: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="The first line of a range; null for one line."
    )
    side: DiffSide = Field(
        default="new",
        description="`new`: the file as the attempt left it. `old`: as it was, for removed lines.",
    )
    body: CleanText = Field(min_length=1, max_length=4000)

    @model_validator(mode="after")
    def _starts_before_it_ends(self) -> "LineComment":
        if self.start_line is not None and self.start_line > self.line:
            raise ValueError(f"start_line {self.start_line} is after line {self.line}")
        return self

    @property
    def place(self) -> str:
        """Return the comment's place, such as `app/main.py:3-5 (removed)`."""
        lines = str(self.line)
        if self.start_line is not None and self.start_line < self.line:
            lines = f"{self.start_line}-{self.line}"
        return f"{self.path}:{lines}{' (removed)' if self.side == 'old' else ''}"


class VerdictMarkIn(MarkCreate):
    """A mark on one verdict of the escalated attempt."""

    evaluation_id: UUID


class EscalationResolve(BaseModel):
    """A reviewer's decision.

    `retry` grants `additional_attempts` attempts (default 1); their prompts contain guidance and line
    comments. `accept` also unprotects the files that the accepted attempt changed; if it answers questions,
    it allows exactly the changes in question. A loop ends with its last output, an answer with its best safe
    attempt. `reject` fails the run. `known_failures` adds the tests in question that fail at the base to the
    known failures of the repository, whose later runs then ask nothing about them. `version` is the version
    that the reviewer saw; if the escalation has changed since, the response is 409.
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
    known_failures: bool = Field(
        default=False,
        description="Also add the tests in `tests` of the questions to the repository's known failures.",
    )
    version: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _only_retry_grants_attempts(self) -> "EscalationResolve":
        if self.additional_attempts is not None and self.decision is not EscalationDecision.RETRY:
            raise ValueError("additional_attempts is only for the decision 'retry'")
        if self.known_failures and self.decision is EscalationDecision.REJECT:
            raise ValueError("known_failures is not for the decision 'reject'")
        return self


class EscalationAssign(BaseModel):
    """Takes an escalation for the caller."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    take_over: bool = Field(default=False, description="Also take it from another reviewer.")


class EscalationFilter(BaseModel):
    """Which escalations a list shows. Values of one field are alternatives; fields narrow each other."""

    model_config = ConfigDict(frozen=True)

    status: EscalationStatus | None = None
    kind: list[RunKind] = Field(default=[], max_length=MAX_CHOICES, description="The kind of run.")
    reason: list[EscalationReason] = Field(default=[], max_length=MAX_CHOICES)
    project: list[Annotated[CleanLine, Field(min_length=1, max_length=4096)]] = Field(
        default=[], max_length=MAX_CHOICES, description="The location of the run's source."
    )
    assigned: Annotated[CleanLine, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="Only those that this reviewer has."
    )
    unassigned: bool = Field(default=False, description="Only those that no reviewer has.")
    until: Moment | None = Field(default=None, description="Escalated before this time.")


class EscalationQuery(EscalationFilter):
    """One page of a list of escalations, oldest first."""

    limit: int = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(default=None, max_length=500)


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
    project: str | None = Field(default=None, description="The location of the run's source.")
    assigned_to: str | None = Field(default=None, description="The reviewer who looks after it.")
    assigned_at: datetime | None = None
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
