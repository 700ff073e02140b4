"""Stores held-out tests with a run, and copies them to its forks."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import insert, literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import HeldOut


def held_out_row(run_id: UUID, files: Mapping[str, str]) -> HeldOut:
    """Return the row that stores a run's held-out tests."""
    return HeldOut(run_id=run_id, files=dict(files))


async def copy_held_out(session: AsyncSession, origin: UUID, heir: UUID) -> None:
    """Give `heir` the held-out tests of the run `origin`, with their results at the base."""
    found = select(literal(heir), HeldOut.files, HeldOut.at_base).where(HeldOut.run_id == origin)
    await session.execute(insert(HeldOut).from_select(["run_id", "files", "at_base"], found))
