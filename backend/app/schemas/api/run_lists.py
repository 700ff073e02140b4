"""Which runs a list shows, in which order, and how many there are."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.moments import Moment
from app.schemas.runs import PhaseOfRun, RunKind, RunStatus
from app.schemas.text import CleanLine

MetricPart = Literal["counted", "considered"]


class MetricName(StrEnum):
    """A metric whose runs can be listed: the runs that it counts, or its whole denominator."""

    PASS_AT_1 = "pass_at_1"  # noqa: S105 - not a password
    PASS_AT_2 = "pass_at_2"  # noqa: S105 - not a password
    PASS_AT_3 = "pass_at_3"  # noqa: S105 - not a password
    RETRIED = "retried"
    ESCALATED = "escalated"
    DECIDED = "decided"
    COST_KNOWN = "cost_known"
    VERDICT_PASSED = "verdict_passed"
    VERDICT_FAILED = "verdict_failed"
    VERDICT_ERRORED = "verdict_errored"
    VERDICT_SKIPPED = "verdict_skipped"
    WRONG_PASSES = "wrong_passes"
    WRONG_FAILS = "wrong_fails"
    WRONG_PASSES_BY_OUTCOME = "wrong_passes_by_outcome"
    WRONG_FAILS_BY_OUTCOME = "wrong_fails_by_outcome"
    OUTCOME = "outcome"


MAX_CHOICES = 50
MAX_CURSOR_CHARS = 500

_Choice = Annotated[CleanLine, Field(min_length=1, max_length=4096)]


class RunSort(StrEnum):
    """The order of a list of runs; equal ones are ordered by id.

    `updated`, `cost` and `tokens` start with the latest or the largest. Runs with an unknown cost come last.
    """

    NEWEST = "newest"
    OLDEST = "oldest"
    UPDATED = "updated"
    COST = "cost"
    TOKENS = "tokens"


class RunScope(BaseModel):
    """A set of runs, selected by properties that never change."""

    model_config = ConfigDict(frozen=True)

    since: Moment | None = Field(default=None, description="Created at this time or later.")
    until: Moment | None = Field(default=None, description="Created before this time.")
    kind: list[RunKind] = Field(default=[], max_length=MAX_CHOICES)
    project: list[_Choice] = Field(
        default=[],
        max_length=MAX_CHOICES,
        description="The location of the source, as runs show it.",
    )
    agent: list[_Choice] = Field(
        default=[], max_length=MAX_CHOICES, description="The agent, as runs show it."
    )


class RunFilter(RunScope):
    """The filters of a list. Values of one field are alternatives; fields narrow each other."""

    status: list[RunStatus] = Field(default=[], max_length=MAX_CHOICES)
    phase: list[PhaseOfRun] = Field(default=[], max_length=MAX_CHOICES, description="The current phase.")
    needs_human: bool | None = Field(
        default=None, description="Whether the run has an open escalation; null for both."
    )
    paused: bool | None = Field(default=None, description="Whether the run is paused; null for both.")
    q: CleanLine | None = Field(
        default=None, max_length=200, description="Part of the name or goal, or the beginning of the id."
    )
    metric: MetricName | None = Field(default=None, description="Only the runs that this figure counts.")
    metric_part: MetricPart = Field(
        default="counted", description="The runs that the figure counts, or all that it considers."
    )
    metric_phase: CleanLine | None = Field(
        default=None, max_length=100, description="The figure's phase; null for whole runs."
    )
    metric_key: CleanLine | None = Field(
        default=None, max_length=200, description="The figure's reason, decision, evaluator or outcome."
    )


class RunQuery(RunFilter):
    """One page of a list of runs."""

    sort: RunSort = RunSort.NEWEST
    limit: int = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(
        default=None,
        max_length=MAX_CURSOR_CHARS,
        description="The `next_cursor` of the previous page, in the same order.",
    )


class RunCounts(BaseModel):
    """The number of runs that match a filter.

    Attributes:
        total: all of them.
        needs_human: those with an open escalation.
        paused: those that are paused.
        by_status: every status, including those with 0. Paused runs keep the status with which they continue.
        paused_by_status: the paused runs of every status.
        by_kind: every kind, including those with 0.
    """

    model_config = ConfigDict(frozen=True)

    total: int
    needs_human: int
    paused: int
    by_status: dict[RunStatus, int]
    paused_by_status: dict[RunStatus, int]
    by_kind: dict[RunKind, int]


class Facet(BaseModel):
    """A value to filter by, and the number of runs that have it."""

    model_config = ConfigDict(frozen=True)

    value: str
    runs: int


class RunFacets(BaseModel):
    """The values to filter by, most frequent first; at most 200 per field.

    Attributes:
        complete: false if there are more values than these.
    """

    model_config = ConfigDict(frozen=True)

    kinds: list[Facet]
    projects: list[Facet]
    agents: list[Facet]
    complete: bool
