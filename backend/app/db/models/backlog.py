"""The tables of the backlog: items, what they depend on, and limits of projects."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, ForeignKey, Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class BacklogItem(Base):
    """A sprint to start later; its run gets the item's id.

    `reason` says why the item has not started. While it is `starting`, `next_at` is when its worker counts as
    dead; while it is `waiting`, it is not tried before `next_at`. `origin` is its place on a forge, if it
    came from an issue.
    """

    __tablename__ = "backlog_items"
    __table_args__ = (
        CheckConstraint("status IN ('waiting', 'starting', 'started', 'removed')", name="status"),
        Index(
            "ix_backlog_items_project",
            "project",
            "next_at",
            postgresql_where=text("status IN ('waiting', 'starting')"),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    project: Mapped[str]
    name: Mapped[str]
    request: Mapped[dict[str, Any]]
    origin: Mapped[dict[str, Any] | None]
    priority: Mapped[int] = mapped_column(server_default="0")
    status: Mapped[str] = mapped_column(server_default="waiting")
    reason: Mapped[str] = mapped_column(server_default="")
    tries: Mapped[int] = mapped_column(server_default="0")
    next_at: Mapped[datetime] = mapped_column(server_default=func.now())
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class BacklogDependency(Base):
    """Other work that must come first: an item or a run. `needs` has no foreign key: runs may be deleted."""

    __tablename__ = "backlog_dependencies"
    __table_args__ = (CheckConstraint("until IN ('accepted', 'merged')", name="until"),)

    item_id: Mapped[UUID] = mapped_column(
        ForeignKey("backlog_items.id", ondelete="CASCADE"), primary_key=True
    )
    needs: Mapped[UUID] = mapped_column(primary_key=True, index=True)
    until: Mapped[str]


class BacklogProject(Base):
    """The limits of a project, and whether its backlog is paused. Null sets no limit."""

    __tablename__ = "backlog_projects"

    project: Mapped[str] = mapped_column(primary_key=True)
    paused_at: Mapped[datetime | None]
    paused_by: Mapped[str | None]
    running: Mapped[int | None]
    waiting_for_humans: Mapped[int | None]
    open_pull_requests: Mapped[int | None]
    per_day: Mapped[int | None]
