"""Evaluators in the API: their names, their verdicts, and how often they were wrong."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.api.attempts import EvaluationStatusName, EvaluationView
from app.schemas.api.run_lists import MAX_CHOICES, MAX_CURSOR_CHARS
from app.schemas.moments import Moment
from app.schemas.runs import Phase, RunKind
from app.schemas.shares import Latency, Share
from app.schemas.text import CleanLine

RECORD_SIZE = 1000
"""The most verdicts in a track record; the newest ones count."""


class EvaluatorView(BaseModel):
    """A registered evaluator; `phases` is null for every phase. Only gates can block an attempt."""

    name: str
    version: str
    category: str
    deterministic: bool
    gate: bool
    observed: bool = Field(default=False, description="Whether the gate is observed: it blocks nothing.")
    phases: list[str] | None
    source: str = Field(description="built-in, a package with its version, or phaserunner.toml")


class EvaluatorList(BaseModel):
    """The registered evaluators, in order."""

    items: list[EvaluatorView]


class MarkedShares(BaseModel):
    """How often an evaluator was wrong, according to reviewers' marks.

    Reviewers mark what they look at, which is mostly work that escalated. So these are shares of the marked
    verdicts, not of all.

    Attributes:
        wrong_passes: share of the marked passes that were marked wrong.
        wrong_fails: share of the marked fails that were marked wrong.
    """

    model_config = ConfigDict(frozen=True)

    wrong_passes: Share
    wrong_fails: Share


class TrackRecord(BaseModel):
    """An evaluator's track record, from its newest verdicts (at most 1,000) and all marks.

    Attributes:
        verdicts: number of verdicts, on chosen and other candidates alike.
        passed: share of all verdicts.
        failed: share of all verdicts.
        errored: share of all verdicts; the evaluator could not judge.
        skipped: share of all verdicts; there was nothing to check.
        latency: of the verdicts that were not skipped.
        marked: what reviewers said.
    """

    model_config = ConfigDict(frozen=True)

    evaluator: str
    verdicts: int
    passed: Share
    failed: Share
    errored: Share
    skipped: Share
    latency: Latency
    marked: MarkedShares


class EvaluatorVersion(BaseModel):
    """One version of an evaluator among its newest verdicts (at most 1,000)."""

    model_config = ConfigDict(frozen=True)

    version: str
    verdicts: int
    first_at: datetime
    last_at: datetime


class EvaluatorDetail(BaseModel):
    """One evaluator.

    Attributes:
        registered: the evaluator as registered with this service's settings; null if only old verdicts or
            those of projects have this name.
        versions: newest first.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    registered: EvaluatorView | None
    versions: list[EvaluatorVersion]
    record: TrackRecord


class VerdictQuery(BaseModel):
    """Filters of an evaluator's verdicts; values of one field are alternatives."""

    model_config = ConfigDict(frozen=True)

    status: list[EvaluationStatusName] = Field(default=[], max_length=MAX_CHOICES)
    mark: Literal["any", "none", "right", "wrong_pass", "wrong_fail"] | None = Field(
        default=None, description="The newest mark; `any` and `none` filter by whether a mark exists."
    )
    phase: list[Phase] = Field(default=[], max_length=MAX_CHOICES)
    version: list[CleanLine] = Field(default=[], max_length=MAX_CHOICES)
    since: Moment | None = Field(default=None, description="Evaluated at this time or later.")
    until: Moment | None = Field(default=None, description="Evaluated before this time.")
    limit: int = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(default=None, max_length=MAX_CURSOR_CHARS)


class VerdictView(BaseModel):
    """A verdict with its run, attempt and candidate."""

    model_config = ConfigDict(frozen=True)

    run_id: UUID
    run_name: str
    run_kind: RunKind
    phase: str
    attempt: int
    candidate: int
    chosen: bool = Field(description="Whether the attempt continued with this candidate.")
    evaluation: EvaluationView


class VerdictPage(BaseModel):
    """A page of an evaluator's verdicts, newest first; `next_cursor` is null on the last page."""

    items: list[VerdictView]
    next_cursor: str | None
