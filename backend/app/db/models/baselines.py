"""The table of baselines."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, false, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class RunBaseline(Base):
    """What the base's tests do before a run changes anything.

    `tests` holds the full result and `summary` what readers see of it. Rows with the same `key` have the same
    base, environment and rules. `reused` tells that the run took the baseline over from an earlier row.
    """

    __tablename__ = "run_baselines"
    __table_args__ = (Index("ix_run_baselines_key", "key", "created_at"),)

    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str]
    summary: Mapped[dict[str, Any]]
    tests: Mapped[dict[str, Any]]
    reused: Mapped[bool] = mapped_column(server_default=false())
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
