"""The table of access tokens."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, LargeBinary, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class ApiToken(Base):
    """An access token, of which only the SHA-256 is stored."""

    __tablename__ = "api_tokens"
    __table_args__ = (CheckConstraint("role IN ('viewer', 'operator', 'reviewer', 'admin')", name="role"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    name: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    digest: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
