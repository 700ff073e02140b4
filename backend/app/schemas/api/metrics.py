"""Metrics: how often gates hold, how often people are asked, what it costs. Defined in docs/metrics.md."""

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.api.observed import ObservedGate
from app.schemas.api.run_lists import RunScope
from app.schemas.forges import EndedAs
from app.schemas.shares import Latency, Share


class MetricQuery(RunScope):
    """Which runs are measured: those created in a window, of some kinds, projects or agents."""


class Bucket(StrEnum):
    """The width of one point of a trend, in UTC; weeks begin on Monday."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class TrendQuery(MetricQuery):
    """Which runs are measured, and in which steps."""

    bucket: Bucket = Bucket.WEEK


class MetricShare(Share):
    """A share with the lists of its runs.

    Attributes:
        counted: query of `GET /api/v1/runs` that lists exactly the runs with cases that count.
        considered: the same for all runs with cases: the denominator's.
    """

    counted: str
    considered: str


class PassRates(BaseModel):
    """How often work passed within 1, 2 and 3 attempts, before any human helped."""

    model_config = ConfigDict(frozen=True)

    pass_at_1: MetricShare
    pass_at_2: MetricShare
    pass_at_3: MetricShare


class Retries(BaseModel):
    """How much work was done again.

    Attributes:
        retried: cases with more than one judged attempt, of those with one.
        total: judged attempts beyond the first of each phase.
        mean: `total` for each phase that was judged; null without one.
    """

    model_config = ConfigDict(frozen=True)

    retried: MetricShare
    total: int
    mean: float | None


class PhaseMetrics(BaseModel):
    """One phase's metrics over all runs that have it; each run's phase is a case."""

    model_config = ConfigDict(frozen=True)

    phase: str
    passes: PassRates
    retries: Retries
    escalated: MetricShare
    attempts: dict[int, int] = Field(description="Phases by their number of evaluated attempts.")


class EscalationMetrics(BaseModel):
    """How often people were asked, why, and what they decided.

    Attributes:
        rate: runs that escalated at least once, of those that did or are over.
        reasons: the same by reason; a run that escalated for two reasons is in both.
        decisions: resolved escalations by decision.
        time_to_decision: from asking to the decision.
        open: escalations that wait now.
    """

    model_config = ConfigDict(frozen=True)

    rate: MetricShare
    reasons: dict[str, MetricShare]
    decisions: dict[str, MetricShare]
    time_to_decision: Latency
    open: int


class EvaluatorMetrics(BaseModel):
    """One evaluator's metrics over the chosen runs; each verdict is a case.

    Attributes:
        verdicts: how many there are, on chosen and other candidates alike.
        gate: whether it decided in any of them.
        latency: of the verdicts that were not skipped.
        wrong_passes: of the passes that reviewers marked, those whose newest mark says wrong.
        wrong_fails: the same for fails.
        wrong_passes_by_outcome: of the passes of delivered results, those closed or reverted by people.
        wrong_fails_by_outcome: of the fails of delivered results, those merged for good.
    """

    model_config = ConfigDict(frozen=True)

    evaluator: str
    gate: bool
    verdicts: int
    passed: MetricShare
    failed: MetricShare
    errored: MetricShare
    skipped: MetricShare
    latency: Latency
    wrong_passes: MetricShare
    wrong_fails: MetricShare
    wrong_passes_by_outcome: MetricShare
    wrong_fails_by_outcome: MetricShare


class Amount(BaseModel):
    """The amount per finished run. Null if no run has finished.

    Attributes:
        n: runs that are over and whose amount is known.
        total: their sum.
        p50: an amount that half of them do not exceed.
        p95: an amount that 95 % of them do not exceed.
    """

    model_config = ConfigDict(frozen=True)

    n: int
    total: float | None
    p50: float | None
    p95: float | None


class SpendMetrics(BaseModel):
    """What finished runs consumed, judges included.

    Attributes:
        cost_usd: of the runs whose cost is known; an unknown cost is not zero.
        cost_known: how many that is, of the runs that used a model.
        input_tokens: of every run that is over.
        output_tokens: of every run that is over.
    """

    model_config = ConfigDict(frozen=True)

    cost_usd: Amount
    cost_known: MetricShare
    input_tokens: Amount
    output_tokens: Amount


class ConversationMetrics(BaseModel):
    """How often one agent's retries passed; attempts that a person steered are left out.

    Attributes:
        agent: its name.
        continued: of the retries that continued the conversation before, those that passed.
        fresh: of the retries that began a fresh conversation, those that passed.
    """

    model_config = ConfigDict(frozen=True)

    agent: str
    continued: Share
    fresh: Share


class OutcomeMetrics(BaseModel):
    """What became of the pull requests of delivered results; each run is a case.

    Attributes:
        shares: by outcome, of those that ended at least 30 days ago.
        edited_share: the share of edited lines that half of the settled merges do not exceed.
        recent: by outcome, how many ended since then; they are in no share yet.
        uncompared: merges that are not compared with what was delivered.
    """

    model_config = ConfigDict(frozen=True)

    shares: dict[EndedAs, MetricShare]
    edited_share: float | None
    recent: dict[EndedAs, int]
    uncompared: int


class MetricsReport(BaseModel):
    """All metrics of the chosen runs at one moment.

    Attributes:
        at: the moment.
        runs: how many runs are measured.
        over: how many of them are over.
        passes: of whole runs: every phase passed within so many attempts.
        retries: of whole runs.
        phases: of each phase, in the order of a sprint.
        observed: of each gate that was only observed.
        outcomes: of the pull requests that ended.
        conversations: of each agent whose attempts were retried.
    """

    model_config = ConfigDict(frozen=True)

    at: datetime
    runs: int
    over: int
    passes: PassRates
    retries: Retries
    phases: list[PhaseMetrics]
    escalations: EscalationMetrics
    evaluators: list[EvaluatorMetrics]
    observed: list[ObservedGate] = []
    outcomes: OutcomeMetrics
    conversations: list[ConversationMetrics] = []
    spend: SpendMetrics


class TrendPoint(BaseModel):
    """The runs created in one step of time."""

    model_config = ConfigDict(frozen=True)

    start: datetime
    runs: int
    pass_at_1: MetricShare
    pass_at_3: MetricShare
    escalated: MetricShare


class Trend(BaseModel):
    """Metrics over time. Steps without runs are included, with null shares."""

    model_config = ConfigDict(frozen=True)

    bucket: Bucket
    points: list[TrendPoint]
