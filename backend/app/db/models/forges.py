"""The tables of what runs report to forges and of what forges deliver."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    LargeBinary,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class ForgeReport(Base):
    """A run's place on a forge, and the outbox of what the forge is to be told.

    Each event that matters raises `wanted`; a report that reached the forge sets `reported` to the value that
    it began with. So of many events at once one report is made. `pushed` are commits that this service pushed
    or was about to push to `branch`: only these may be replaced there.

    A round works on the pull request of another run, `root_run_id`. Its result is pushed on top of `parents`:
    the commit that the branch had when the round began, and the target's head if the round merged it.

    `accepted_at` is when a result was found good to merge: results are merged in this order. `after` are the
    runs whose results are in the base of a round: its own is offered when these are merged or closed.
    """

    __tablename__ = "forge_reports"
    __table_args__ = (
        UniqueConstraint("trigger"),
        CheckConstraint("outcome IN ('merged', 'closed')", name="outcome"),
        Index("ix_forge_reports_next_at", "next_at", postgresql_where=text("wanted > reported")),
        Index("ix_forge_reports_repository", "forge", "repository", "issue", "pull_number"),
    )

    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    forge: Mapped[str]
    repository: Mapped[str]
    issue: Mapped[int | None]
    trigger: Mapped[str | None]
    branch: Mapped[str | None]
    pushed: Mapped[list[str]] = mapped_column(server_default="{}")
    pull_number: Mapped[int | None]
    pull_url: Mapped[str | None]
    comment_id: Mapped[int | None] = mapped_column(BigInteger)
    outcome: Mapped[str | None]
    outcome_by: Mapped[str | None]
    outcome_at: Mapped[datetime | None]
    wanted: Mapped[int] = mapped_column(server_default="1")
    reported: Mapped[int] = mapped_column(server_default="0")
    tries: Mapped[int] = mapped_column(server_default="0")
    next_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_error: Mapped[str] = mapped_column(server_default="")
    root_run_id: Mapped[UUID | None] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), index=True)
    parents: Mapped[list[str]] = mapped_column(server_default="{}")
    accepted_at: Mapped[datetime | None]
    after: Mapped[list[UUID]] = mapped_column(server_default="{}")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class ForgeReview(Base):
    """The review of a run's pull request: what is known of it, and when somebody looks at it again.

    Attributes:
        head: commit of the branch when it was last looked at.
        target: name of the branch that it is to be merged into.
        rounds: how many rounds began.
        round_run_id: the newest round.
        asked: keys of the feedback that the newest round was told of, until its result is pushed.
        answered: keys of the feedback of earlier rounds.
        look_at: when it is due; null while nothing is to be done.
        comment_id: of the comment on the pull request.
        judged_commit: the newest head that other people pushed and that was judged.
        judged_status: the verdict on it.
        judged_reason: the reason, and what the failed gates found.
        judged_at: when that was.
    """

    __tablename__ = "forge_reviews"
    __table_args__ = (
        CheckConstraint(
            "state IN ('watching', 'working', 'approved', 'spent', 'stopped', 'ended')", name="state"
        ),
        CheckConstraint(
            "judged_status IN ('passed', 'failed', 'errored', 'asks', 'conflicts')", name="judged_status"
        ),
        Index("ix_forge_reviews_look_at", "look_at", postgresql_where=text("look_at IS NOT NULL")),
    )

    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    state: Mapped[str] = mapped_column(server_default="watching")
    reason: Mapped[str] = mapped_column(server_default="")
    head: Mapped[str | None]
    target: Mapped[str | None]
    rounds: Mapped[int] = mapped_column(server_default="0")
    round_run_id: Mapped[UUID | None] = mapped_column(ForeignKey("runs.id", ondelete="SET NULL"), index=True)
    asked: Mapped[list[str]] = mapped_column(server_default="{}")
    answered: Mapped[list[str]] = mapped_column(server_default="{}")
    look_at: Mapped[datetime | None]
    tries: Mapped[int] = mapped_column(server_default="0")
    last_error: Mapped[str] = mapped_column(server_default="")
    comment_id: Mapped[int | None] = mapped_column(BigInteger)
    judged_commit: Mapped[str | None]
    judged_status: Mapped[str | None]
    judged_reason: Mapped[str] = mapped_column(server_default="")
    judged_at: Mapped[datetime | None]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class ForgeMerge(Base):
    """What became of a run's result after its pull request was merged.

    Attributes:
        commit: what the merge left on the target.
        target: name of the branch that took it.
        merged_at: when that was.
        lines: changed lines of the delivered or of the merged change, whichever has more.
        edited_share: the share of them that the other one does not have.
        reverted_commit: what took it back within 30 days.
        reverted_at: when that was.
        look_at: when it is due; null after the 30 days.
    """

    __tablename__ = "forge_merges"
    __table_args__ = (
        Index("ix_forge_merges_look_at", "look_at", postgresql_where=text("look_at IS NOT NULL")),
    )

    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    commit: Mapped[str | None]
    target: Mapped[str | None]
    merged_at: Mapped[datetime | None]
    lines: Mapped[int | None]
    edited_share: Mapped[float | None]
    reverted_commit: Mapped[str | None]
    reverted_at: Mapped[datetime | None]
    look_at: Mapped[datetime | None] = mapped_column(server_default=func.now())
    tries: Mapped[int] = mapped_column(server_default="0")
    last_error: Mapped[str] = mapped_column(server_default="")


class ForgeDelivery(Base):
    """A signed delivery of a forge, recorded before anything is done about it.

    The header with the delivery's id is not signed, so a replay may carry another: the digest of the body
    tells it, too. `asks` and `asked_at` name what a person asked for: a webhook and a poll of it are one.
    """

    __tablename__ = "forge_deliveries"
    __table_args__ = (
        UniqueConstraint("forge", "delivery"),
        UniqueConstraint("forge", "digest"),
        CheckConstraint("status IN ('pending', 'done', 'ignored', 'failed')", name="status"),
        Index("ix_forge_deliveries_next_at", "next_at", postgresql_where=text("status = 'pending'")),
        Index("ix_forge_deliveries_received_at", "received_at"),
        Index("ix_forge_deliveries_asks", "forge", "asks", postgresql_where=text("asks IS NOT NULL")),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    forge: Mapped[str]
    delivery: Mapped[str]
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    event: Mapped[str]
    payload: Mapped[dict[str, Any]]
    status: Mapped[str] = mapped_column(server_default="pending")
    result: Mapped[str] = mapped_column(server_default="")
    tries: Mapped[int] = mapped_column(server_default="0")
    next_at: Mapped[datetime] = mapped_column(server_default=func.now())
    received_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]
    asks: Mapped[str | None]
    asked_at: Mapped[datetime | None]


class ForgePoll(Base):
    """How far a repository was polled for labels and commands.

    Attributes:
        place: name of the forge and of the repository.
        since: time of the newest thing that was found, by the forge's clock.
        next_at: when it is polled again.
    """

    __tablename__ = "forge_polls"

    place: Mapped[str] = mapped_column(primary_key=True)
    forge: Mapped[str]
    repository: Mapped[str]
    since: Mapped[datetime]
    next_at: Mapped[datetime] = mapped_column(server_default=func.now())
    tries: Mapped[int] = mapped_column(server_default="0")
    last_error: Mapped[str] = mapped_column(server_default="")
