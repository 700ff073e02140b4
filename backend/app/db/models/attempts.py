"""The tables of attempts and of the candidates that agents produce in them."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base

_ATTEMPT_STATES = "'started', 'agent_failed', 'delegated', 'produced', 'evaluating', 'passed', 'failed'"


class Attempt(Base):
    """One attempt at a phase of a sprint or at an answer, or one iteration of a loop.

    Only the holder of `claim` may write the outcome. `unavailable_*` count consecutive failures of
    models, and `provider_reset_at` is when the provider's limit ends, if the provider reports it.
    `details` holds what attempts of loops and answers have beside the common columns. `closing` is how an
    attempt itself ends its run.
    """

    __tablename__ = "attempts"
    __table_args__ = (
        UniqueConstraint("run_id", "phase", "number"),
        # Metrics read this index alone, without the prompts and outputs in the rows.
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
    vendor_login: Mapped[bool] = mapped_column(server_default="false")
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

    `continued` tells that the agent continued the conversation of an earlier attempt. `session_note` says why
    it did not, although it was asked to.
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
