"""The table of results that were judged again on a branch that had moved."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class ResultCheck(Base):
    """The newest check of a run's result on the present head of a branch.

    `commit` is that head, and `result_commit` the result. `verdict` is null if nothing was judged,
    because the files conflict or the branch already has every change. `after` names results that were
    merged into the head first.
    """

    __tablename__ = "result_checks"
    __table_args__ = (
        CheckConstraint("state IN ('clean', 'conflicts', 'contained')", name="state"),
        CheckConstraint("verdict IN ('passed', 'failed', 'errored')", name="verdict"),
    )

    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    result_commit: Mapped[str]
    branch: Mapped[str]
    commit: Mapped[str]
    state: Mapped[str]
    conflicts: Mapped[list[str]] = mapped_column(server_default="{}")
    after: Mapped[list[str]] = mapped_column(server_default="{}")
    verdict: Mapped[str | None]
    reason: Mapped[str] = mapped_column(server_default="")
    checked_at: Mapped[datetime] = mapped_column(server_default=func.now())
