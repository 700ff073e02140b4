"""Reads what people may know of a run's held-out tests."""

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import HeldOut, Run
from app.schemas.api.run_details import HeldOutView
from app.schemas.held_out import HeldOutAtBase, HiddenCases


async def load_held_out(session: AsyncSession, run: Run) -> HeldOutView | None:
    """Return a run's held-out tests without their texts, or why its default hides nothing.

    None means that there are neither.
    """
    kept = await session.get(HeldOut, run.id)
    if kept is None:
        told = run.held_out_note
        return None if told is None else HeldOutView(files=[], cases=None, at_base=None, note=told)
    at_base = HeldOutAtBase.model_validate(kept.at_base) if kept.at_base else None
    note = at_base.in_words() if at_base else "They are tried at the base when the run starts."
    cases = HiddenCases.model_validate(kept.hidden_cases) if kept.hidden_cases else None
    note = " ".join([*([cases.in_words()] if cases else []), *filter(None, [run.held_out_note]), note])
    return HeldOutView(files=sorted(kept.files), cases=cases, at_base=at_base, note=note)
