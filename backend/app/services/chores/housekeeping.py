"""Deletes expired data of finished runs and keeps what metrics and reviews need.

Progress events are emptied, not deleted: their numbers stay, so that a client that resumes finds no gap and
the log still shows what happened. Deleting snapshots deletes all files of a run: its diffs, its result and
forks of it are then no longer possible. While a pull request is open, its runs keep their files at any age.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    Update,
    delete,
    exists,
    func,
    literal_column,
    select,
    text,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute, aliased

from app.db.engine import Sessions
from app.db.models import EventRow, ForgeReport, IdempotencyKey, Run, Snapshot, WebhookDelivery
from app.services.control.idempotency import KEPT_FOR
from app.workspaces.store import WorkspaceStore

MESSAGES_KEPT = timedelta(days=30)
"""Webhook messages are deleted after this time, whether they were accepted or not."""

_ORPHANS_KEPT = timedelta(days=1)
"""For how long a directory that no run has stays untouched before it is removed."""

_BATCH = 50
_LOCK = 7_303_014_501
"""Number of the advisory lock that lets one worker trim at a time."""

_EMPTIED = {
    "agent.progress": "jsonb_set(data, '{lines}', '[]')",
    "tool.called": "jsonb_set(data, '{text}', '\"\"')",
    "tool.result": "jsonb_set(data, '{text}', '\"\"')",
}
_COUNT_JOBS = text(
    "SELECT count(*) FROM procrastinate_jobs WHERE status IN ('succeeded', 'failed', 'cancelled', 'aborted')"
)
_DELETE_JOBS = text(
    "DELETE FROM procrastinate_jobs WHERE status IN ('succeeded', 'failed', 'cancelled', 'aborted') "
    "RETURNING id"
)


@dataclass(frozen=True, slots=True)
class Retention:
    """Days for which data of a finished run is kept, and the bytes that all snapshots together may use."""

    progress_days: float
    snapshot_days: float
    snapshot_bytes: int
    directory_days: float


@dataclass(frozen=True, slots=True)
class Trimmed:
    """What was deleted, or would be.

    Attributes:
        progress: number of runs whose progress events are emptied.
        snapshots: number of runs whose files are deleted from the database.
        snapshot_bytes: total size of these files.
        directories: number of runs whose directory is removed from this machine.
        orphans: number of directories on this machine that no run has.
        answers: number of stored responses to idempotent requests.
        messages: number of webhook messages.
        jobs: number of rows of ended jobs.
    """

    progress: int = 0
    snapshots: int = 0
    snapshot_bytes: int = 0
    directories: int = 0
    orphans: int = 0
    answers: int = 0
    messages: int = 0
    jobs: int = 0

    @property
    def total(self) -> int:
        """Return how many things were deleted in all, bytes aside."""
        kept_here = self.directories + self.orphans
        return self.progress + self.snapshots + kept_here + self.answers + self.messages + self.jobs


class Housekeeping:
    """Finds expired data and deletes it in short transactions.

    Args:
        sessions: opens transactions.
        store: this machine's directories of runs.
        retention: how long data is kept.
    """

    def __init__(self, sessions: Sessions, store: WorkspaceStore, retention: Retention) -> None:
        self._sessions = sessions
        self._store = store
        self._retention = retention

    async def __call__(self) -> int:
        """Delete expired data, and return how many things were deleted."""
        return (await self.trim()).total

    async def look(self) -> Trimmed:
        """Return what would be deleted, and change nothing."""
        now = datetime.now(UTC)
        directories, orphans = await self._on_disk(now)
        async with self._sessions() as session:
            files = await self._files_to_trim(session, now)
            progress = _finished(now, self._retention.progress_days, Run.progress_trimmed_at)
            answers = select(IdempotencyKey.key).where(_old_answers(now))
            messages = select(WebhookDelivery.id).where(_old_messages(now))
            return Trimmed(
                progress=await session.scalar(_count(progress)) or 0,
                snapshots=len(files),
                snapshot_bytes=sum(size for _, size in files),
                directories=len(directories),
                orphans=len(orphans),
                answers=await session.scalar(_count(answers)) or 0,
                messages=await session.scalar(_count(messages)) or 0,
                jobs=await session.scalar(_COUNT_JOBS) or 0,
            )

    async def trim(self) -> Trimmed:
        """Delete expired data, except what another worker is deleting at this moment."""
        now = datetime.now(UTC)
        progress = await self._trim_progress(now)
        snapshots, size = await self._trim_snapshots(now)
        gone, orphans = await self._on_disk(now)
        for run_id in (*gone, *orphans):
            await self._store.remove_run(run_id)
        return Trimmed(
            progress=progress,
            snapshots=snapshots,
            snapshot_bytes=size,
            directories=len(gone),
            orphans=len(orphans),
            answers=await self._forget_answers(now),
            messages=await self._forget_messages(now),
            jobs=await self._delete_jobs(),
        )

    async def _trim_progress(self, now: datetime) -> int:
        trimmed = 0
        wanted = _finished(now, self._retention.progress_days, Run.progress_trimmed_at).limit(_BATCH)
        while True:
            async with self._sessions.begin() as session:
                if not await _alone(session):
                    return trimmed
                ids = (await session.scalars(wanted)).all()
                if not ids:
                    return trimmed
                for kind, emptied in _EMPTIED.items():
                    mine = (EventRow.run_id.in_(ids), EventRow.type == kind)
                    await session.execute(update(EventRow).where(*mine).values(data=literal_column(emptied)))
                await session.execute(_mark(ids).values(progress_trimmed_at=now))
            trimmed += len(ids)

    async def _trim_snapshots(self, now: datetime) -> tuple[int, int]:
        async with self._sessions() as session:
            files = await self._files_to_trim(session, now)
        trimmed = size = 0
        for start in range(0, len(files), _BATCH):
            batch = files[start : start + _BATCH]
            ids = [run_id for run_id, _ in batch]
            async with self._sessions.begin() as session:
                if not await _alone(session):
                    break
                await session.execute(delete(Snapshot).where(Snapshot.run_id.in_(ids)))
                await session.execute(_mark(ids).values(files_trimmed_at=now))
            trimmed += len(batch)
            size += sum(each for _, each in batch)
        return trimmed, size

    async def _files_to_trim(self, session: AsyncSession, now: datetime) -> list[tuple[UUID, int]]:
        """Return the runs whose snapshots are too old or exceed the total size, oldest first, with sizes."""
        statement = (
            select(Run.id, Run.finished_at, func.sum(func.octet_length(Snapshot.bundle)), _in_review())
            .join(Snapshot, Snapshot.run_id == Run.id)
            .where(Run.finished_at.is_not(None))
            .group_by(Run.id)
            .order_by(Run.finished_at)
        )
        rows = [(row[0], row[1], int(row[2]), row[3]) for row in await session.execute(statement)]
        left = sum(size for _, _, size, _ in rows)
        oldest_kept = now - timedelta(days=self._retention.snapshot_days)
        found: list[tuple[UUID, int]] = []
        for run_id, ended, size, in_review in rows:
            is_kept = in_review or (ended is not None and ended >= oldest_kept)
            if not is_kept or left > self._retention.snapshot_bytes:
                found.append((run_id, size))
                left -= size
        return found

    async def _on_disk(self, now: datetime) -> tuple[Sequence[UUID], Sequence[UUID]]:
        """Return the runs whose directory here expires, and the directories that no run has.

        The latter belonged to runs that were deleted, or whose start was killed by an earlier version.
        """
        here = await self._store.runs_on_disk()
        async with self._sessions() as session:
            found = await session.execute(select(Run.id, Run.finished_at).where(Run.id.in_(here)))
            ended = dict(found.all())
        oldest, since = now - timedelta(days=self._retention.directory_days), now - _ORPHANS_KEPT
        expired = [each for each, at in ended.items() if at is not None and at < oldest]
        unknown = [each for each in here if each not in ended]
        return expired, [each for each in unknown if await self._store.untouched_since(each, since)]

    async def _forget_answers(self, now: datetime) -> int:
        statement = delete(IdempotencyKey).where(_old_answers(now)).returning(IdempotencyKey.key)
        async with self._sessions.begin() as session:
            return len((await session.scalars(statement)).all())

    async def _forget_messages(self, now: datetime) -> int:
        statement = delete(WebhookDelivery).where(_old_messages(now)).returning(WebhookDelivery.id)
        async with self._sessions.begin() as session:
            return len((await session.scalars(statement)).all())

    async def _delete_jobs(self) -> int:
        async with self._sessions.begin() as session:
            gone = await session.scalars(_DELETE_JOBS)
            return len(gone.all())


def _in_review() -> ColumnElement[bool]:
    """Return the condition that the pull request with a run's result is open.

    A review of it starts a round from these files, and its merge is compared with them.
    """
    own, opened = aliased(ForgeReport), aliased(ForgeReport)
    return (
        exists()
        .where(own.run_id == Run.id, opened.run_id == func.coalesce(own.root_run_id, own.run_id))
        .where(opened.pull_number.is_not(None), opened.outcome.is_(None))
    )


def _finished(now: datetime, days: float, trimmed: InstrumentedAttribute[datetime | None]) -> Select[UUID]:
    return (
        select(Run.id)
        .where(Run.finished_at < now - timedelta(days=days), trimmed.is_(None))
        .order_by(Run.finished_at)
    )


def _mark(ids: Sequence[UUID]) -> Update:
    # Trimming is not an event of the run, so `updated_at` must not change.
    return update(Run).where(Run.id.in_(ids)).values(updated_at=Run.updated_at)


def _old_answers(now: datetime) -> ColumnElement[bool]:
    return IdempotencyKey.created_at < now - KEPT_FOR


def _old_messages(now: datetime) -> ColumnElement[bool]:
    return WebhookDelivery.created_at < now - MESSAGES_KEPT


def _count(statement: Select[UUID] | Select[str]) -> Select[int]:
    return select(func.count()).select_from(statement.subquery())


async def _alone(session: AsyncSession) -> bool:
    return bool(await session.scalar(select(func.pg_try_advisory_xact_lock(_LOCK))))
