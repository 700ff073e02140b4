"""Metrics: how often gates hold, how often people are asked, what runs cost. Defined in docs/metrics.md."""

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.api.observed import ObservedGate
from app.schemas.api.run_lists import RunScope
from app.schemas.forges import EndedAs
from app.schemas.shares import Latency, Share


class MetricQuery(RunScope):
    """Which runs are measured: those created in a period, of some kinds, projects or agents."""


class Bucket(StrEnum):
    """The width of one point of a trend, in UTC; weeks begin on Monday."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class TrendQuery(MetricQuery):
    """Which runs are measured, and the width of the steps."""

    bucket: Bucket = Bucket.WEEK


class MetricShare(Share):
    """A share with the lists of its runs.

    Attributes:
        counted: query of `GET /api/v1/runs` that lists exactly the runs with cases that count.
        considered: the same for the runs with any cases, which make up the denominator.
    """

    counted: str
    considered: str


class PassRates(BaseModel):
    """How often work passed within 1, 2 and 3 attempts, before any person helped."""

    model_config = ConfigDict(frozen=True)

    pass_at_1: MetricShare
    pass_at_2: MetricShare
    pass_at_3: MetricShare


class Retries(BaseModel):
    """How much work was done again.

    Attributes:
        retried: share of judged cases that had more than one judged attempt.
        total: judged attempts beyond the first of each phase.
        mean: `total` per judged phase; null if there is none.
    """

    model_config = ConfigDict(frozen=True)

    retried: MetricShare
    total: int
    mean: float | None


class PhaseMetrics(BaseModel):
    """One phase's metrics over all runs that have the phase; each run's phase is a case."""

    model_config = ConfigDict(frozen=True)

    phase: str
    passes: PassRates
    retries: Retries
    escalated: MetricShare
    attempts: dict[int, int] = Field(description="Phases by their number of evaluated attempts.")


class EscalationMetrics(BaseModel):
    """How often people were asked, why, and what they decided.

    Attributes:
        rate: share of runs that escalated at least once, of those that escalated or are over.
        reasons: the same by reason; a run that escalated for two reasons counts in both.
        decisions: resolved escalations by decision.
        time_to_decision: from the escalation to the decision.
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
        verdicts: number of verdicts, on chosen and other candidates alike.
        gate: whether it was a gate in any of them.
        latency: of the verdicts that were not skipped.
        wrong_passes: share of the marked passes whose newest mark says wrong.
        wrong_fails: the same for fails.
        wrong_passes_by_outcome: share of the passes of delivered results that people closed or reverted.
        wrong_fails_by_outcome: share of the fails of delivered results that were merged and not reverted.
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
        n: number of finished runs with a known amount.
        total: the sum of their amounts.
        p50: the amount that half of them do not exceed.
        p95: the amount that 95 % of them do not exceed.
    """

    model_config = ConfigDict(frozen=True)

    n: int
    total: float | None
    p50: float | None
    p95: float | None


class SpendMetrics(BaseModel):
    """What finished runs consumed, judges included.

    Attributes:
        cost_usd: cost of the runs whose cost is known; an unknown cost is not zero.
        cost_known: share of runs with a known cost, of those that used a model.
        input_tokens: of every finished run.
        output_tokens: of every finished run.
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
        continued: share that passed, of the retries that continued the previous conversation.
        fresh: share that passed, of the retries that started a new conversation.
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
        uncompared: merges that have not been compared with the delivered result.
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
        runs: number of measured runs.
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
