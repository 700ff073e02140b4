"""Collects hints about runs with new events, and tells when to check all runs in case hints were lost."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Hint:
    """Where to look for new events: in these runs, or everywhere."""

    run_ids: frozenset[UUID]
    everywhere: bool


class HintInbox:
    """Hints for one reader. At least every `poll_seconds`, a hint says to look everywhere."""

    def __init__(self, poll_seconds: float) -> None:
        self._poll_seconds = poll_seconds
        self._poll_at = 0.0
        self._rung: set[UUID] = set()
        self._everywhere = False
        self._wake = asyncio.Event()

    def ring(self, run_ids: Iterable[UUID]) -> None:
        """Note that these runs may have new events."""
        self._rung.update(run_ids)
        self._wake.set()

    def ring_everywhere(self) -> None:
        """Note that hints may have been lost, so that any run may have new events."""
        self._everywhere = True
        self._wake.set()

    async def take(self) -> Hint:
        """Wait for hints or for the next poll, and empty the inbox.

        The time of the next poll is kept across calls, so that steady hints for one run do not
        postpone the look at others.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(self._poll_at):
                await self._wake.wait()
        except TimeoutError:
            self._everywhere = True
        everywhere = self._everywhere or loop.time() >= self._poll_at
        if everywhere:
            self._poll_at = loop.time() + self._poll_seconds
        bell = Hint(frozenset(self._rung), everywhere)
        self._rung.clear()
        self._everywhere = False
        self._wake.clear()
        return bell
