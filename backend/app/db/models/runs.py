"""The table of runs."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, CheckConstraint, Computed, ForeignKey, Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base

_RUN_STATES = "'queued', 'active', 'waiting', 'completed', 'failed', 'cancelled'"
# In the form in which Postgres returns them, so that models and database can be compared.
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


class Run(Base):
    """One run. `fence_*` identify the queue job that may write; `last_sequence` numbers its events.

    The database computes `project` and `agent_name` for filters; they are not read as attributes. While
    `paused_at` is set, no worker advances the run. `guidance` is in every prompt. `forked_from` identifies
    the attempt of another run from whose commit it started. `definition` holds what only loops and answers
    are started with. `outcomes` is what became of the phases of a finished run, for metrics.
    `held_out_note` says what became of a default share of hidden test cases.
    """

    __tablename__ = "runs"
    __table_args__ = (
        CheckConstraint(f"status IN ({_RUN_STATES})", name="status"),
        Index("ix_runs_created_at_id", "created_at", "id"),
        Index("ix_runs_finished_at", "finished_at", postgresql_where=text("finished_at IS NOT NULL")),
        Index("ix_runs_without_outcomes", "id", postgresql_where=text("outcomes IS NULL")),
        Index("ix_runs_forked_from", text("(forked_from ->> 'run_id')")),
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
    held_out_note: Mapped[str | None]
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
