"""The table of escalations and of the decisions that resolve them."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, ForeignKey, Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class Escalation(Base):
    """A request to a person; open while `decision` is null. A run has at most one open escalation.

    `remind_at` is when a reminder is next considered; `reminders` counts those that were due so far.
    `assigned_to` is the reviewer who looks after it; others with the role may still decide.
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
    assigned_to: Mapped[str | None]
    assigned_at: Mapped[datetime | None]
    version: Mapped[int] = mapped_column(server_default="1")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    reminders: Mapped[int] = mapped_column(server_default="0")
    remind_at: Mapped[datetime] = mapped_column(server_default=func.now())
