"""The table of events."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class EventRow(Base):
    """One event, identified by run and sequence, which has no gaps.

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
