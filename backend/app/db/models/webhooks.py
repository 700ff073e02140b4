"""The table of webhook deliveries."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class WebhookDelivery(Base):
    """A message to another service about one event; its body is made from the event when it is sent."""

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        UniqueConstraint("run_id", "sequence", "url"),
        CheckConstraint("status IN ('pending', 'delivered', 'failed')", name="status"),
        Index("ix_webhook_deliveries_next_at", "next_at", postgresql_where=text("status = 'pending'")),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    sequence: Mapped[int] = mapped_column(BigInteger)
    event: Mapped[str]
    url: Mapped[str]
    status: Mapped[str] = mapped_column(server_default="pending")
    tries: Mapped[int] = mapped_column(server_default="0")
    next_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_error: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]
