"""Evaluates attempts with held-out tests, and runs these tests at the base before any agent works."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

import logfire
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import WorkspaceError
from app.core.events.held_out import HeldOutCheckedData
from app.db.engine import Sessions
from app.db.models import HeldOut, Run
from app.db.outages import is_outage
from app.realtime.store import Fence
from app.runners.phase_panel import PhasePanel
from app.schemas.held_out import HeldOutAtBase
from app.schemas.runs import HeldOutFeedback
from app.services.control.held_out_reading import JUDGED_PHASES, MakeGate
from app.services.execute.advance import CarryOutAttempt
from app.services.record.history import Recorded
from app.services.record.transactions import Recorder
from app.workspaces.store import JudgedPair


class BaseCopies(Protocol):
    """Lays out copies of commits."""

    def judged(self, run_id: UUID, commit: str, base_commit: str) -> AbstractAsyncContextManager[JudgedPair]:
        """Return fresh copies of a commit and of the base; they are removed when the block is left."""
        ...


@dataclass(frozen=True, slots=True)
class HeldOutPanels:
    """Adds the gate of a run's held-out tests to the run's panel.

    Attributes:
        sessions: opens short sessions for reading.
        make: makes the gate.
    """

    sessions: Sessions
    make: MakeGate

    async def panel_for(self, recorded: Recorded, panel: PhasePanel) -> PhasePanel:
        """Return the panel that judges a run: the given one if the run has no held-out tests."""
        async with self.sessions() as session:
            kept = await session.get(HeldOut, recorded.run.id)
        if kept is None:
            return panel
        return panel.with_gate(self.make(kept.files, recorded.policy.held_out_feedback), JUDGED_PHASES)


@dataclass(frozen=True, slots=True)
class TryHeldOutFirst:
    """Produces attempts; before the first one, runs the held-out tests at the base.

    A test that passes there shows nothing about the goal. An event reports this and changes no decision.

    Attributes:
        panels: provides the gate of the held-out tests.
        recorder: opens fenced transactions.
        copies: lays out the base.
        produce: lets the agent work on an attempt.
    """

    panels: HeldOutPanels
    recorder: Recorder
    copies: BaseCopies
    produce: CarryOutAttempt

    async def __call__(self, recorded: Recorded, number: int, fence: Fence) -> None:
        """Produce attempt `number` of the run's current phase."""
        async with self.panels.sessions() as session:
            kept = await session.get(HeldOut, recorded.run.id)
        if kept is not None and kept.at_base is None:
            with logfire.span("try held-out tests at the base"):
                found = await self._at_base(recorded.run, kept.files)
            async with self.recorder.open(recorded.run.id, fence) as recording:
                await _record(recording.session, recorded.run.id, found)
                recording.tell(_data(found), recorded.run.phase)
        await self.produce(recorded, number, fence)

    async def _at_base(self, run: Run, files: Mapping[str, str]) -> HeldOutAtBase:
        gate = self.panels.make(files, HeldOutFeedback.MESSAGES)
        try:
            async with self.copies.judged(run.id, run.base_commit, run.base_commit) as trees:
                return await gate.at_base(trees.base)
        except (WorkspaceError, OSError) as error:
            if is_outage(error):
                raise
            return HeldOutAtBase(trouble=str(error))


async def _record(session: AsyncSession, run_id: UUID, found: HeldOutAtBase) -> None:
    kept = await session.get_one(HeldOut, run_id)
    kept.at_base = found.model_dump(mode="json")


def _data(found: HeldOutAtBase) -> HeldOutCheckedData:
    # Only numbers, because more people see events than may see the tests.
    return HeldOutCheckedData(
        total=found.total,
        passing=len(found.passing),
        unreadable=len(found.unreadable),
        message=found.in_words() if not found.trouble else "The held-out tests could not be run at the base.",
    )
