"""The table through which workers show what their agents have changed so far."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class WorkspaceLook(Base):
    """One look into the workspace of an agent at work.

    A look is due while `wanted_at` is later than `taken_at`. `diff` is compressed JSON; `problem` says why
    there is none. The table does not survive a crash of the server and needs no log, because the next look
    restores all of it.
    """

    __tablename__ = "workspace_looks"
    __table_args__ = (
        CheckConstraint("candidate >= 0", name="candidate"),
        {"prefixes": ["UNLOGGED"]},
    )

    claim: Mapped[UUID] = mapped_column(primary_key=True)
    candidate: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), index=True)
    wanted_at: Mapped[datetime]
    taken_at: Mapped[datetime | None]
    diff: Mapped[bytes | None] = mapped_column(LargeBinary)
    problem: Mapped[str] = mapped_column(server_default="")
