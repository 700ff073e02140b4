"""The table of idempotency keys and their stored responses."""

from datetime import datetime
from typing import Any

from sqlalchemy import LargeBinary, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class IdempotencyKey(Base):
    """The stored response to a POST, which a repetition of the POST gets as well."""

    __tablename__ = "idempotency_keys"

    key: Mapped[str] = mapped_column(primary_key=True)
    route: Mapped[str] = mapped_column(primary_key=True)
    request_digest: Mapped[bytes] = mapped_column(LargeBinary)
    status: Mapped[int]
    body: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now(), index=True)
