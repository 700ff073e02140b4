"""The table of held-out tests."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class HeldOut(Base):
    """The held-out tests of a run: their texts by path. `at_base` holds their results at the base, once run.

    `hidden_cases` is set if they are the base's own tests, of which the agent sees a part.

    Code that makes text for agents may learn only of which kind the tests are, from `held_out_kind`.
    """

    __tablename__ = "held_out_tests"

    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    files: Mapped[dict[str, Any]]
    at_base: Mapped[dict[str, Any] | None]
    hidden_cases: Mapped[dict[str, Any] | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
