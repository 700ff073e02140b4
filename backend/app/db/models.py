"""The tables. The rows' docstrings say what they mean; alembic makes them."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID, uuid4

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Computed,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    Numeric,
    Text,
    TypeDecorator,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from app.schemas.text import storable_text

_RUN_STATES = "'queued', 'active', 'waiting', 'completed', 'failed', 'cancelled'"
# As Postgres gives them back, so that models and database can be compared.
_PROJECT = "(source ->> 'location'::text)"
_AGENT_NAME = """
CASE
    WHEN (((agent -> 'script'::text) ->> 'title'::text) IS NOT NULL)
        THEN ('scripted (no model): '::text || ((agent -> 'script'::text) ->> 'title'::text))
    WHEN (jsonb_typeof((agent -> 'candidates'::text)) = 'array'::text) THEN 'several agents'::text
    ELSE (
        CASE COALESCE((agent ->> 'backend'::text), 'auto'::text)
            WHEN 'auto'::text THEN 'pydantic-ai'::text
            ELSE (agent ->> 'backend'::text)
        END || COALESCE((' '::text || (agent ->> 'model'::text)), ''::text))
END
"""
_ATTEMPT_STATES = "'started', 'agent_failed', 'delegated', 'produced', 'evaluating', 'passed', 'failed'"


class StorableText(TypeDecorator[str]):
    """Text of any origin; what Postgres cannot store in it is replaced visibly."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Replace NUL and lone surrogates."""
        return None if value is None else storable_text(value)


class Base(DeclarativeBase):
    """Declarative base: every time is with time zone, every constraint has a predictable name."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: DateTime(timezone=True),
        str: StorableText,
        dict[str, Any]: JSONB,
        list[Any]: JSONB,
        list[str]: ARRAY(StorableText),
    }


class Run(Base):
    """One run. `fence_*` name the queue job that may write; `last_sequence` numbers its events.

    `project` and `agent_name` are computed by the database, for filters; they are not read as attributes.
    While `paused_at` is set nothing moves the run. `guidance` is pinned in every prompt. `forked_from` names
    the attempt of another run whose commit it began with. `definition` is what a run that is no sprint was
    started with. `outcomes` is what became of the phases of a run that is over, for metrics.
    """

    __tablename__ = "runs"
    __table_args__ = (
        CheckConstraint(f"status IN ({_RUN_STATES})", name="status"),
        Index("ix_runs_created_at_id", "created_at", "id"),
        Index("ix_runs_finished_at", "finished_at", postgresql_where=text("finished_at IS NOT NULL")),
        Index("ix_runs_without_outcomes", "id", postgresql_where=text("outcomes IS NULL")),
        Index("ix_runs_status", "status", postgresql_where=text("status IN ('queued', 'active', 'waiting')")),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    kind: Mapped[str]
    name: Mapped[str]
    goal: Mapped[str]
    phases: Mapped[list[str]]
    phase: Mapped[str | None]
    policy: Mapped[dict[str, Any]]
    agent: Mapped[dict[str, Any]]
    source: Mapped[dict[str, Any]]
    status: Mapped[str]
    status_reason: Mapped[str] = mapped_column(server_default="")
    base_commit: Mapped[str]
    head_commit: Mapped[str]
    used_requests: Mapped[int] = mapped_column(BigInteger, server_default="0")
    used_tool_calls: Mapped[int] = mapped_column(BigInteger, server_default="0")
    used_input_tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    used_output_tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    used_cost_usd: Mapped[float | None]
    last_sequence: Mapped[int] = mapped_column(BigInteger, server_default="0")
    parent_run_id: Mapped[UUID | None] = mapped_column(ForeignKey("runs.id", ondelete="SET NULL"), index=True)
    fence_job: Mapped[int] = mapped_column(BigInteger, server_default="0")
    fence_try: Mapped[int] = mapped_column(server_default="0")
    version: Mapped[int] = mapped_column(server_default="1")
    paused_at: Mapped[datetime | None]
    paused_by: Mapped[str | None]
    pause_reason: Mapped[str] = mapped_column(server_default="")
    guidance: Mapped[list[str]] = mapped_column(server_default="{}")
    forked_from: Mapped[dict[str, Any] | None]
    definition: Mapped[dict[str, Any] | None]
    outcomes: Mapped[list[Any] | None]
    progress_trimmed_at: Mapped[datetime | None]
    files_trimmed_at: Mapped[datetime | None]
    traceparent: Mapped[str | None]
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    project: Mapped[str | None] = mapped_column(Computed(_PROJECT, persisted=True), deferred=True)
    agent_name: Mapped[str | None] = mapped_column(Computed(_AGENT_NAME, persisted=True), deferred=True)


class HeldOut(Base):
    """The held-out tests of a run: their texts by path. `at_base` is what they do at the base, once tried.

    Whatever reaches an agent is made without reading this table.
    """

    __tablename__ = "held_out_tests"

    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    files: Mapped[dict[str, Any]]
    at_base: Mapped[dict[str, Any] | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class Attempt(Base):
    """One attempt of a phase, one iteration of a loop, one attempt at an answer.

    The writer of its outcome must hold `claim`. `unavailable_*` count the failures of models in a row, and
    `provider_reset_at` is when the provider's limit ends, if it says so. `details` are what the attempts of
    runs that are no sprints hold beside the common columns; `closing` is what an attempt itself makes of its
    run.
    """

    __tablename__ = "attempts"
    __table_args__ = (
        UniqueConstraint("run_id", "phase", "number"),
        # Metrics read it alone, without the prompts and outputs in the rows.
        Index("ix_attempts_outcome", "run_id", "phase", "number", "status"),
        CheckConstraint(f"status IN ({_ATTEMPT_STATES})", name="status"),
        CheckConstraint("number >= 1", name="number"),
        CheckConstraint("closing IN ('condition', 'human', 'error')", name="closing"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    phase: Mapped[str]
    number: Mapped[int]
    claim: Mapped[UUID]
    status: Mapped[str]
    prompt: Mapped[str]
    optimization_context: Mapped[dict[str, Any]]
    output: Mapped[str] = mapped_column(server_default="")
    base_commit: Mapped[str]
    head_commit: Mapped[str | None]
    tree: Mapped[str | None]
    changed_files: Mapped[list[str]] = mapped_column(server_default="{}")
    chosen_candidate: Mapped[int | None]
    choice_reason: Mapped[str] = mapped_column(server_default="")
    steered: Mapped[bool] = mapped_column(server_default="false")
    score: Mapped[float | None]
    verdict: Mapped[str | None]
    verdict_reason: Mapped[str] = mapped_column(server_default="")
    fingerprint: Mapped[str | None]
    usage: Mapped[dict[str, Any]] = mapped_column(server_default="{}")
    agent_failures: Mapped[int] = mapped_column(server_default="0")
    needs_human: Mapped[bool] = mapped_column(server_default="false")
    evaluation_failures: Mapped[int] = mapped_column(server_default="0")
    lost_workers: Mapped[int] = mapped_column(server_default="0")
    unavailable_failures: Mapped[int] = mapped_column(server_default="0")
    unavailable_since: Mapped[datetime | None]
    provider_reset_at: Mapped[datetime | None]
    not_before: Mapped[datetime | None]
    last_error: Mapped[str] = mapped_column(server_default="")
    details: Mapped[dict[str, Any] | None]
    closing: Mapped[str | None]
    trace_id: Mapped[str | None]
    started_at: Mapped[datetime] = mapped_column(server_default=func.now())
    produced_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]


class Candidate(Base):
    """What one agent produced in an attempt; `index` counts from 0.

    `continued` says that the agent went on with the conversation of an earlier attempt; `session_note` says
    why it did not although it was to.
    """

    __tablename__ = "candidates"
    __table_args__ = (UniqueConstraint("attempt_id", "index"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    attempt_id: Mapped[UUID] = mapped_column(ForeignKey("attempts.id", ondelete="CASCADE"))
    index: Mapped[int]
    agent: Mapped[str]
    provider: Mapped[str]
    model: Mapped[str | None]
    output: Mapped[str]
    error: Mapped[str | None]
    metrics: Mapped[dict[str, Any]]
    continued: Mapped[bool] = mapped_column(server_default="false")
    session_note: Mapped[str] = mapped_column(server_default="")
    head_commit: Mapped[str | None]
    tree: Mapped[str | None]
    changed_files: Mapped[list[str]] = mapped_column(server_default="{}")


class AgentMessage(Base):
    """What a person said to the agent of a run; `phase` and `attempt` are where it was delivered."""

    __tablename__ = "agent_messages"
    __table_args__ = (
        CheckConstraint("mode IN ('steer', 'queue')", name="mode"),
        CheckConstraint("status IN ('queued', 'delivered', 'refused')", name="status"),
        Index("ix_agent_messages_run_id_sent_at", "run_id", "sent_at"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    mode: Mapped[str]
    text: Mapped[str]
    status: Mapped[str] = mapped_column(server_default="queued")
    reason: Mapped[str] = mapped_column(server_default="")
    phase: Mapped[str | None]
    attempt: Mapped[int | None]
    sent_by: Mapped[str]
    sent_at: Mapped[datetime] = mapped_column(server_default=func.now())
    settled_at: Mapped[datetime | None]


class Evaluation(Base):
    """What one evaluator said about one candidate."""

    __tablename__ = "evaluations"
    __table_args__ = (
        UniqueConstraint("candidate_id", "evaluator"),
        CheckConstraint("status IN ('passed', 'failed', 'errored', 'skipped')", name="status"),
        Index("ix_evaluations_evaluator_evaluated_at", "evaluator", "evaluated_at"),
        # Metrics of all runs read it alone, without the evidence in the rows.
        Index("ix_evaluations_figures", "evaluator", "status", "duration_ms", "gate"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    candidate_id: Mapped[UUID] = mapped_column(ForeignKey("candidates.id", ondelete="CASCADE"))
    position: Mapped[int]
    evaluator: Mapped[str]
    version: Mapped[str]
    category: Mapped[str]
    gate: Mapped[bool]
    status: Mapped[str]
    passed: Mapped[bool]
    score: Mapped[float]
    feedback: Mapped[str]
    criteria: Mapped[list[Any]]
    suggestions: Mapped[list[str]]
    details: Mapped[dict[str, Any]] = mapped_column("metadata")
    duration_ms: Mapped[int | None]
    trace_id: Mapped[str | None]
    evaluated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class Escalation(Base):
    """A question to a human; open while `decision` is null. One can be open per run.

    `remind_at` is when it is looked at again for a reminder; `reminders` counts those that fell due.
    """

    __tablename__ = "escalations"
    __table_args__ = (
        CheckConstraint("status IN ('open', 'resolved', 'withdrawn')", name="status"),
        CheckConstraint("decision IN ('accept', 'retry', 'reject')", name="decision"),
        CheckConstraint("(status = 'resolved') = (decision IS NOT NULL)", name="resolved"),
        Index("uq_escalations_open", "run_id", unique=True, postgresql_where=text("status = 'open'")),
        Index("ix_escalations_run_id_phase", "run_id", "phase"),
        Index("ix_escalations_status_created_at", "status", "created_at"),
        Index("ix_escalations_remind_at", "remind_at", postgresql_where=text("status = 'open'")),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    phase: Mapped[str]
    attempt: Mapped[int]
    reason_kind: Mapped[str]
    reason: Mapped[str]
    status: Mapped[str] = mapped_column(server_default="open")
    decision: Mapped[str | None]
    guidance: Mapped[str] = mapped_column(server_default="")
    line_comments: Mapped[list[Any]] = mapped_column(server_default="[]")
    additional_attempts: Mapped[int] = mapped_column(server_default="0")
    decided_by: Mapped[str | None]
    decided_at: Mapped[datetime | None]
    version: Mapped[int] = mapped_column(server_default="1")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    reminders: Mapped[int] = mapped_column(server_default="0")
    remind_at: Mapped[datetime] = mapped_column(server_default=func.now())


class VerdictMark(Base):
    """A reviewer's word on whether one verdict was right."""

    __tablename__ = "verdict_marks"
    __table_args__ = (UniqueConstraint("evaluation_id", "marked_by"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    evaluation_id: Mapped[UUID] = mapped_column(ForeignKey("evaluations.id", ondelete="CASCADE"))
    was_right: Mapped[bool]
    note: Mapped[str] = mapped_column(server_default="")
    marked_by: Mapped[str]
    marked_at: Mapped[datetime] = mapped_column(server_default=func.now())


class EventRow(Base):
    """One event; (run, sequence) is its identity, without gaps.

    `batch` is the key of events that were stored together; the first of them carries it.
    """

    __tablename__ = "events"
    __table_args__ = (
        Index(
            "ux_events_run_id_batch",
            "run_id",
            "batch",
            unique=True,
            postgresql_where=text("batch IS NOT NULL"),
        ),
    )

    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    sequence: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    type: Mapped[str]
    phase: Mapped[str | None]
    attempt: Mapped[int | None]
    data: Mapped[dict[str, Any]]
    at: Mapped[datetime]
    trace_id: Mapped[str | None]
    batch: Mapped[UUID | None]


class ModelRequestRow(Base):
    """One request to a model; `status` is the HTTP status that the client got, 499 if it did not wait.

    `cost_usd` is null exactly if `cost_kind` is `unknown`. Tokens are null where the answer did not say.
    A row that is `reported` stands for `requests` that an agent made and counted itself.
    """

    __tablename__ = "model_requests"
    __table_args__ = (
        CheckConstraint("role IN ('agent', 'judge', 'director', 'answer')", name="role"),
        CheckConstraint("cost_kind IN ('billed', 'computed', 'unknown')", name="cost_kind"),
        CheckConstraint("(cost_kind = 'unknown') = (cost_usd IS NULL)", name="cost"),
        Index("ix_model_requests_run_id_at", "run_id", "at"),
        Index("ix_model_requests_at", "at"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    run_id: Mapped[UUID | None] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    phase: Mapped[str | None]
    attempt: Mapped[int | None]
    candidate: Mapped[int | None]
    role: Mapped[str]
    provider: Mapped[str]
    model: Mapped[str]
    input_tokens: Mapped[int | None] = mapped_column(BigInteger)
    output_tokens: Mapped[int | None] = mapped_column(BigInteger)
    cached_tokens: Mapped[int | None] = mapped_column(BigInteger)
    cost_usd: Mapped[Decimal | None] = mapped_column(Numeric(18, 8))
    cost_kind: Mapped[str]
    status: Mapped[int]
    latency_ms: Mapped[int] = mapped_column(BigInteger)
    requests: Mapped[int] = mapped_column(BigInteger, server_default="1")
    reported: Mapped[bool] = mapped_column(server_default="false")
    at: Mapped[datetime]


class DailySpending(Base):
    """What the runs of one project consumed on one day in UTC; it outlives the runs."""

    __tablename__ = "daily_spending"

    day: Mapped[date] = mapped_column(primary_key=True)
    project: Mapped[str] = mapped_column(primary_key=True)
    requests: Mapped[int] = mapped_column(BigInteger, server_default="0")
    tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    cost_usd: Mapped[Decimal] = mapped_column(Numeric(18, 8), server_default="0")


class Snapshot(Base):
    """A git bundle that restores `commit`: the base whole, an attempt on top of the base."""

    __tablename__ = "snapshots"
    __table_args__ = (CheckConstraint("kind IN ('base', 'attempt')", name="kind"),)

    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    commit: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    bundle: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class ApiToken(Base):
    """A token's SHA-256, never the token."""

    __tablename__ = "api_tokens"
    __table_args__ = (CheckConstraint("role IN ('viewer', 'operator', 'reviewer', 'admin')", name="role"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    name: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    digest: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class IdempotencyKey(Base):
    """The answer given to a POST, so that its repetition gets the same one."""

    __tablename__ = "idempotency_keys"

    key: Mapped[str] = mapped_column(primary_key=True)
    route: Mapped[str] = mapped_column(primary_key=True)
    request_digest: Mapped[bytes] = mapped_column(LargeBinary)
    status: Mapped[int]
    body: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now(), index=True)


class WebhookDelivery(Base):
    """A message to another service about one event; its content is made of the event when it is sent."""

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        UniqueConstraint("run_id", "sequence", "url"),
        CheckConstraint("status IN ('pending', 'delivered', 'failed')", name="status"),
        Index("ix_webhook_deliveries_next_at", "next_at", postgresql_where=text("status = 'pending'")),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    sequence: Mapped[int] = mapped_column(BigInteger)
    event: Mapped[str]
    url: Mapped[str]
    status: Mapped[str] = mapped_column(server_default="pending")
    tries: Mapped[int] = mapped_column(server_default="0")
    next_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_error: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]


class ForgeReport(Base):
    """A run's place on a forge, and the outbox of what the forge is to be told.

    Each event that matters raises `wanted`; a report that reached the forge sets `reported` to the value that
    it began with. So of many events at once one report is made. `pushed` are commits that this service pushed
    or was about to push to `branch`: only these may be replaced there.
    """

    __tablename__ = "forge_reports"
    __table_args__ = (
        UniqueConstraint("trigger"),
        CheckConstraint("outcome IN ('merged', 'closed')", name="outcome"),
        Index("ix_forge_reports_next_at", "next_at", postgresql_where=text("wanted > reported")),
        Index("ix_forge_reports_repository", "forge", "repository", "issue", "pull_number"),
    )

    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    forge: Mapped[str]
    repository: Mapped[str]
    issue: Mapped[int | None]
    trigger: Mapped[str | None]
    branch: Mapped[str | None]
    pushed: Mapped[list[str]] = mapped_column(server_default="{}")
    pull_number: Mapped[int | None]
    pull_url: Mapped[str | None]
    comment_id: Mapped[int | None] = mapped_column(BigInteger)
    outcome: Mapped[str | None]
    outcome_by: Mapped[str | None]
    outcome_at: Mapped[datetime | None]
    wanted: Mapped[int] = mapped_column(server_default="1")
    reported: Mapped[int] = mapped_column(server_default="0")
    tries: Mapped[int] = mapped_column(server_default="0")
    next_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_error: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class ForgeDelivery(Base):
    """A signed delivery of a forge, recorded before anything is done about it.

    The header with the delivery's id is not signed, so a replay may carry another: the digest of the body
    tells it, too.
    """

    __tablename__ = "forge_deliveries"
    __table_args__ = (
        UniqueConstraint("forge", "delivery"),
        UniqueConstraint("forge", "digest"),
        CheckConstraint("status IN ('pending', 'done', 'ignored', 'failed')", name="status"),
        Index("ix_forge_deliveries_next_at", "next_at", postgresql_where=text("status = 'pending'")),
        Index("ix_forge_deliveries_received_at", "received_at"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    forge: Mapped[str]
    delivery: Mapped[str]
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    event: Mapped[str]
    payload: Mapped[dict[str, Any]]
    status: Mapped[str] = mapped_column(server_default="pending")
    result: Mapped[str] = mapped_column(server_default="")
    tries: Mapped[int] = mapped_column(server_default="0")
    next_at: Mapped[datetime] = mapped_column(server_default=func.now())
    received_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]
