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
    """A run's place on a forge, and the outbox of reports to the forge.

    Each event that matters raises `wanted`. A report that reached the forge sets `reported` to the value of
    `wanted` when the report started, so many events at once lead to one report. `pushed` are commits that
    this service pushed, or was about to push, to `branch`; only these may be replaced there.

    A round works on the pull request of another run, `root_run_id`. Its result is pushed on top of `parents`:
    the branch's commit when the round started, and the target's head if the round merged it.

    `accepted_at` is when a result was found fit to merge; results are merged in this order. `after` are the
    runs whose results are in the base of a round; its own result is offered when these are merged or closed.
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
    """The review of a run's pull request: what is known of it, and when it is next looked at.

    Attributes:
        head: commit of the branch at the last look.
        target: name of the branch that it is to be merged into.
        rounds: how many rounds have started.
        round_run_id: the newest round.
        asked: keys of the feedback that the newest round received, until its result is pushed.
        answered: keys of the feedback of earlier rounds.
        look_at: when the review is due; null if there is nothing to do.
        comment_id: id of the comment on the pull request.
        judged_commit: the newest head that other people pushed and that was judged.
        judged_status: the verdict on it.
        judged_reason: the reason, and what the failed gates found.
        judged_at: when that was.
        judged_tries: how often this head was judged; more than once only without a verdict.
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
    judged_tries: Mapped[int] = mapped_column(server_default="0")
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class ForgeMerge(Base):
    """What became of a run's result after its pull request was merged.

    Attributes:
        commit: the commit that the merge left on the target.
        target: name of the branch that took it.
        merged_at: when it was merged.
        lines: the number of changed lines of the delivered or the merged change, whichever is larger.
        edited_share: the share of these lines that the other change lacks.
        reverted_commit: the commit that reverted it within 30 days.
        reverted_at: when it was reverted.
        look_at: when the merge is due; null after the 30 days.
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
    """A signed delivery of a forge, recorded before it is acted on.

    The header with the delivery's id is not signed, so a replay may carry another id; the digest of the body
    identifies it as well. `asks` and `asked_at` identify what a person asked for, so that a webhook and a
    poll for the same act count as one.
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
        since: the time from which the next poll reads, by the forge's clock.
        next_at: when the repository is polled next.
    """

    __tablename__ = "forge_polls"

    place: Mapped[str] = mapped_column(primary_key=True)
    forge: Mapped[str]
    repository: Mapped[str]
    since: Mapped[datetime]
    next_at: Mapped[datetime] = mapped_column(server_default=func.now())
    tries: Mapped[int] = mapped_column(server_default="0")
    last_error: Mapped[str] = mapped_column(server_default="")
