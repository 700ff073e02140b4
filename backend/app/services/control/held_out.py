"""Stores held-out tests with a run, and copies them to its forks."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import insert, literal, not_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import HeldOut
from app.schemas.held_out import HiddenCases
from app.services.record.held_out import is_share


def held_out_row(run_id: UUID, files: Mapping[str, str], cases: HiddenCases | None) -> HeldOut:
    """Return the row that stores a run's held-out tests."""
    hidden = None if cases is None else cases.model_dump(mode="json")
    return HeldOut(run_id=run_id, files=dict(files), hidden_cases=hidden)


async def copy_held_out(session: AsyncSession, origin: UUID, heir: UUID, *, same_base: bool) -> None:
    """Give `heir` the held-out tests of the run `origin`, with their results at the base.

    A share of the base's own tests is copied only with the same base. Another base has these tests complete,
    and its versions of them may be newer.
    """
    copied = (HeldOut.files, HeldOut.at_base, HeldOut.hidden_cases)
    found = select(literal(heir), *copied).where(HeldOut.run_id == origin)
    if not same_base:
        found = found.where(not_(is_share()))
    await session.execute(insert(HeldOut).from_select(["run_id", *(each.key for each in copied)], found))
