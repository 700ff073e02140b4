"""Asks an installed agent that changed no file once more, in the same conversation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio.to_thread

from app.agents.external.home import matches
from app.agents.files import file_states
from app.agents.nudges import NUDGE

_States = frozenset[tuple[str, int, int]]


@dataclass(slots=True)
class Nudger:
    """Compares the files with those at the start.

    Attributes:
        workspace: where the agent works.
        leavings: patterns of files that belong to the agent and do not count as work.
        left: how often it may still be asked.
    """

    workspace: Path
    leavings: Sequence[str]
    left: int
    _before: _States = field(default=_States())

    async def begin(self) -> None:
        """Record the files before the agent works."""
        if self.left > 0:
            self._before = await self._look()

    async def take(self) -> str | None:
        """Return one more prompt for an agent that has ended.

        Return None after a change, or if none is left.
        """
        if self.left <= 0 or await self._look() != self._before:
            self.left = 0
            return None
        self.left -= 1
        return NUDGE

    async def _look(self) -> _States:
        return await anyio.to_thread.run_sync(_states, self.workspace, tuple(self.leavings))


def _states(workspace: Path, leavings: Sequence[str]) -> _States:
    """Return the state of the files, without the agent's leftovers."""
    left = {str(workspace / each) for each in matches(workspace, leavings)}
    if not left:
        return frozenset(file_states(workspace))
    return frozenset(
        state
        for state in file_states(workspace)
        if state[0] not in left and not left.intersection(map(str, Path(state[0]).parents))
    )
