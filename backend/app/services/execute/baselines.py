"""Measures a run's baseline during its first attempt: what the base's tests do before any change."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Protocol
from uuid import UUID

import logfire

from app.core.errors import WorkspaceError
from app.db.engine import Sessions
from app.db.outages import is_outage, through_outages
from app.realtime.store import Fence
from app.runners.evaluators.project.project_file import MAX_BYTES
from app.runners.evaluators.testing.baselines import FoundBaseline, baseline_at, comparing_gate
from app.runners.evaluators.testing.gate import PytestEvaluator
from app.runners.phase_panel import PhasePanel
from app.schemas.baseline import Baseline
from app.schemas.project_file import PROJECT_FILE
from app.services.execute.advance import CarryOutAttempt, KindSteps
from app.services.record.baselines import has_baseline, keep_baseline, recall_baseline
from app.services.record.history import Recorded
from app.services.record.transactions import Recorder
from app.workspaces.store import JudgedPair
from app.workspaces.together import together


class BaseTrees(Protocol):
    """Provides the files of a run's base."""

    def judged(self, run_id: UUID, commit: str, base_commit: str) -> AbstractAsyncContextManager[JudgedPair]:
        """Return fresh copies of a commit and of the base; they are removed when the block is left."""
        ...

    async def file_at(self, run_id: UUID, commit: str, path: str, limit: int) -> bytes | None:
        """Return the first `limit` bytes of a file in a commit, or None if the commit lacks it."""
        ...


@dataclass(frozen=True, slots=True)
class BaselineKeeper:
    """Measures the baseline of each run once, and stores it as a row of the run.

    A worker that dies during the measurement leaves no row, so the next worker starts again.

    Attributes:
        sessions: opens short sessions for reading.
        recorder: opens fenced transactions.
        trees: provides the base.
        panel: the operator's evaluators; each project adds its settings.
    """

    sessions: Sessions
    recorder: Recorder
    trees: BaseTrees
    panel: PhasePanel

    def around(self, steps: KindSteps) -> KindSteps:
        """Return the same steps, with the baseline measured in parallel with the first attempt."""
        return KindSteps(
            partial(self._beside, steps.produce), partial(self._before, steps.evaluate), steps.asks_as
        )

    async def _beside(self, produce: CarryOutAttempt, recorded: Recorded, number: int, fence: Fence) -> None:
        """Produce an attempt while the baseline is measured; the agent does not wait for it."""
        if await self._is_known(recorded):
            await produce(recorded, number, fence)
        else:
            await together(produce(recorded, number, fence), self._measure(recorded, fence))

    async def _before(self, evaluate: CarryOutAttempt, recorded: Recorded, number: int, fence: Fence) -> None:
        """Judge an attempt, after measuring a baseline that a lost worker did not finish."""
        if not await self._is_known(recorded):
            await self._measure(recorded, fence)
        await evaluate(recorded, number, fence)

    async def _is_known(self, recorded: Recorded) -> bool:
        async with self.sessions() as session:
            return await has_baseline(session, recorded.run.id)

    async def _measure(self, recorded: Recorded, fence: Fence) -> None:
        run = recorded.run
        with logfire.span("measure the baseline"):
            try:
                found = await self._found(run.id, run.base_commit, run.phases)
            except (WorkspaceError, OSError) as error:
                if is_outage(error):
                    raise
                found = FoundBaseline(Baseline(trouble=str(error)))
        if found is not None:
            await through_outages(partial(self._keep, run.id, fence, found))

    async def _found(self, run_id: UUID, base_commit: str, phases: Sequence[str]) -> FoundBaseline | None:
        gate = await self._gate(run_id, base_commit, phases)
        if gate is None:
            return None
        async with self.trees.judged(run_id, base_commit, base_commit) as trees:
            return await baseline_at(gate, trees.base, self._recall) or FoundBaseline(Baseline())

    async def _gate(self, run_id: UUID, base_commit: str, phases: Sequence[str]) -> PytestEvaluator | None:
        content = await self.trees.file_at(run_id, base_commit, PROJECT_FILE, MAX_BYTES + 1)
        return comparing_gate(self.panel.for_project(content).get_evaluator_registry(), phases)

    async def _recall(self, key: str) -> Baseline | None:
        async def find() -> Baseline | None:
            async with self.sessions() as session:
                return await recall_baseline(session, key)

        return await through_outages(find)

    async def _keep(self, run_id: UUID, fence: Fence, found: FoundBaseline) -> None:
        async with self.recorder.open(run_id, fence) as recording:
            await keep_baseline(recording, found)
