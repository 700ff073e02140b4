"""Tells whether a run has held-out tests, and of which kind. Reads nothing else of them."""

from uuid import UUID

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import HeldOut
from app.schemas.held_out import HeldOutKind


async def held_out_kind(session: AsyncSession, run_id: UUID) -> HeldOutKind | None:
    """Return what a run's held-out tests are, or None if it has none."""
    found = await session.scalar(select(is_share()).where(HeldOut.run_id == run_id))
    if found is None:
        return None
    return HeldOutKind.SHARE if found else HeldOutKind.BROUGHT


def is_share() -> ColumnElement[bool]:
    """Return the condition that a row holds cases of the base's own tests."""
    # Rows have SQL's NULL or JSON's.
    return func.coalesce(func.jsonb_typeof(HeldOut.hidden_cases) == "object", False)
