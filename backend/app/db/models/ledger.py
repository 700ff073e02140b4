"""The ledger's tables: model requests, and what each project spends on a day."""

from datetime import date, datetime
from decimal import Decimal
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, Numeric
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class ModelRequestRow(Base):
    """One request to a model; `status` is the HTTP status that the client got, 499 if it did not wait.

    `cost_usd` is null exactly if `cost_kind` is `unknown`. Token counts are null if the response did not
    include them. A `reported` row stands for `requests` that an agent made and counted itself.
    """

    __tablename__ = "model_requests"
    __table_args__ = (
        CheckConstraint("role IN ('agent', 'judge', 'director', 'answer')", name="role"),
        CheckConstraint("cost_kind IN ('billed', 'computed', 'unknown')", name="cost_kind"),
        CheckConstraint("(cost_kind = 'unknown') = (cost_usd IS NULL)", name="cost"),
        Index("ix_model_requests_run_id_at", "run_id", "at"),
        Index("ix_model_requests_at", "at"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    run_id: Mapped[UUID | None] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    phase: Mapped[str | None]
    attempt: Mapped[int | None]
    candidate: Mapped[int | None]
    role: Mapped[str]
    provider: Mapped[str]
    model: Mapped[str]
    input_tokens: Mapped[int | None] = mapped_column(BigInteger)
    output_tokens: Mapped[int | None] = mapped_column(BigInteger)
    cached_tokens: Mapped[int | None] = mapped_column(BigInteger)
    cost_usd: Mapped[Decimal | None] = mapped_column(Numeric(18, 8))
    cost_kind: Mapped[str]
    status: Mapped[int]
    latency_ms: Mapped[int] = mapped_column(BigInteger)
    requests: Mapped[int] = mapped_column(BigInteger, server_default="1")
    reported: Mapped[bool] = mapped_column(server_default="false")
    at: Mapped[datetime]


class DailySpending(Base):
    """What the runs of one project consumed on one day in UTC; the row outlives the runs."""

    __tablename__ = "daily_spending"

    day: Mapped[date] = mapped_column(primary_key=True)
    project: Mapped[str] = mapped_column(primary_key=True)
    requests: Mapped[int] = mapped_column(BigInteger, server_default="0")
    tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    cost_usd: Mapped[Decimal] = mapped_column(Numeric(18, 8), server_default="0")
