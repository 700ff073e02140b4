"""The table of messages that people send to agents."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, ForeignKey, Index, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class AgentMessage(Base):
    """A message of a person to the agent of a run; `phase` and `attempt` are where it was delivered."""

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
