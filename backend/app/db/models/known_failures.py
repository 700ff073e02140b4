"""The table of known failures."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class KnownFailure(Base):
    """A test that fails at the base and may stay like that in every run of a project, as a reviewer decided.

    `project` is the location of the runs' source, and `test` an exact id. Both can be longer than Postgres
    allows in a unique index, so `key` is a digest of them. `run_id` is the run that asked. It has no foreign
    key, because the decision outlives the run.
    """

    __tablename__ = "known_failures"
    __table_args__ = (Index("ix_known_failures_project", "project", postgresql_using="hash"),)

    key: Mapped[str] = mapped_column(primary_key=True)
    project: Mapped[str]
    test: Mapped[str]
    run_id: Mapped[UUID]
    added_by: Mapped[str]
    added_at: Mapped[datetime] = mapped_column(server_default=func.now())
