"""The tables of evaluations and of the marks that reviewers give to their verdicts."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, false, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class Evaluation(Base):
    """The verdict of one evaluator on one candidate.

    `observed` is the verdict of a gate that was only observed: `gate` is then false, and
    the verdict blocks nothing.
    """

    __tablename__ = "evaluations"
    __table_args__ = (
        UniqueConstraint("candidate_id", "evaluator"),
        CheckConstraint("status IN ('passed', 'failed', 'errored', 'skipped')", name="status"),
        Index("ix_evaluations_evaluator_evaluated_at", "evaluator", "evaluated_at"),
        # Metrics of all runs read this index alone, without the evidence in the rows.
        Index("ix_evaluations_figures", "evaluator", "status", "duration_ms", "gate"),
        Index("ix_evaluations_observed", "evaluator", postgresql_where=text("observed")),
        CheckConstraint("NOT (gate AND observed)", name="observed"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    candidate_id: Mapped[UUID] = mapped_column(ForeignKey("candidates.id", ondelete="CASCADE"))
    position: Mapped[int]
    evaluator: Mapped[str]
    version: Mapped[str]
    category: Mapped[str]
    gate: Mapped[bool]
    observed: Mapped[bool] = mapped_column(server_default=false())
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


class VerdictMark(Base):
    """A reviewer's statement on whether one verdict was right."""

    __tablename__ = "verdict_marks"
    __table_args__ = (UniqueConstraint("evaluation_id", "marked_by"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    evaluation_id: Mapped[UUID] = mapped_column(ForeignKey("evaluations.id", ondelete="CASCADE"))
    was_right: Mapped[bool]
    note: Mapped[str] = mapped_column(server_default="")
    marked_by: Mapped[str]
    marked_at: Mapped[datetime] = mapped_column(server_default=func.now())
