"""Reads what people may know of a run's held-out tests."""

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import HeldOut
from app.schemas.api.run_details import HeldOutView
from app.schemas.held_out import HeldOutAtBase, HiddenCases


async def load_held_out(session: AsyncSession, run_id: UUID) -> HeldOutView | None:
    """Return a run's held-out tests without their texts, or None if it has none."""
    kept = await session.get(HeldOut, run_id)
    if kept is None:
        return None
    at_base = HeldOutAtBase.model_validate(kept.at_base) if kept.at_base else None
    note = at_base.in_words() if at_base else "They are tried at the base when the run starts."
    cases = HiddenCases.model_validate(kept.hidden_cases) if kept.hidden_cases else None
    note = f"{cases.in_words()} {note}" if cases else note
    return HeldOutView(files=sorted(kept.files), cases=cases, at_base=at_base, note=note)
