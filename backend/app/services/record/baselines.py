"""Stores and finds baselines: what the base's tests do before a run changes anything."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.events.baselines import BaselineCompletedData
from app.db.models import RunBaseline
from app.runners.evaluators.testing.baselines import FoundBaseline
from app.schemas.baseline import Baseline, BaselineSummary
from app.schemas.text import storable_json
from app.services.record.transactions import Recording

REUSED_FOR = timedelta(days=7)
"""The greatest age of a baseline that another run may take over: its surroundings may change unnoticed."""


async def has_baseline(session: AsyncSession, run_id: UUID) -> bool:
    """Return whether a run has a baseline."""
    statement = select(RunBaseline.run_id).where(RunBaseline.run_id == run_id)
    return await session.scalar(statement) is not None


async def load_baseline(session: AsyncSession, run_id: UUID) -> Baseline | None:
    """Read the baseline of a run; None if there is none, or if another version of the service wrote it."""
    kept = await session.scalar(select(RunBaseline.tests).where(RunBaseline.run_id == run_id))
    return _read(kept)


async def recall_baseline(session: AsyncSession, key: str) -> Baseline | None:
    """Find the latest baseline with this key in any run, except baselines that could not be measured."""
    statement = (
        select(RunBaseline.tests)
        .where(RunBaseline.key == key, RunBaseline.created_at > datetime.now(UTC) - REUSED_FOR)
        .where(RunBaseline.summary["trouble"].astext == "", RunBaseline.reused.is_(False))
        .order_by(RunBaseline.created_at.desc())
        .limit(1)
    )
    return _read(await session.scalar(statement))


async def keep_baseline(recording: Recording, found: FoundBaseline) -> bool:
    """Store the baseline of a run and its event, unless the run has one; return whether it was stored.

    A base without tests is stored too, so that its tests are not looked for again, but it gives no event.
    """
    known = found.baseline
    summary = BaselineSummary.of(known)
    statement = (
        insert(RunBaseline)
        .values(
            run_id=recording.run.id,
            key=known.key,
            summary=storable_json(summary.model_dump(mode="json")),
            tests=storable_json(known.model_dump(mode="json")),
            reused=found.reused,
        )
        .on_conflict_do_nothing(index_elements=["run_id"])
        .returning(RunBaseline.run_id)
    )
    if await recording.session.scalar(statement) is None:
        return False
    if known.total or known.unreadable or known.trouble:
        recording.tell(_data(summary, reused=found.reused), recording.run.phase)
    return True


def _read(kept: object) -> Baseline | None:
    try:
        return None if kept is None else Baseline.model_validate(kept)
    except ValidationError:
        return None


def _data(summary: BaselineSummary, *, reused: bool) -> BaselineCompletedData:
    return BaselineCompletedData(
        total=summary.total,
        passing=summary.passing,
        red=summary.red,
        flaky=summary.flaky,
        unreadable=summary.unreadable,
        reused=reused,
        trouble=summary.trouble,
        message=summary.note,
    )
