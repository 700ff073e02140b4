"""The table of snapshots."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, LargeBinary, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class Snapshot(Base):
    """A git bundle that restores `commit`: the complete base, or an attempt on top of the base."""

    __tablename__ = "snapshots"
    __table_args__ = (CheckConstraint("kind IN ('base', 'attempt')", name="kind"),)

    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    commit: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    bundle: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
