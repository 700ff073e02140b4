"""Watches a run: ends tests that do nothing any more, and the process if that does not help."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from app.runners.evaluators.testing.running.stuck import stop_test, until_stuck
from app.runners.evaluators.tooling import stretched
from app.workspaces.process import ProcessOutcome

_MOST_STOPPED = 4
"""Limit on the tests of one run that are ended."""

_TO_STOP = 10.0
"""Seconds that such a test has for its end, on an idle machine."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Watches one run.

    Attributes:
        program: the path of its interpreter.
        mark: a part of its command line that no other process has.
        patience: after how many seconds without a record it does nothing any more.
        last_record: when its last record came, by the clock of the event loop.
    """

    program: str
    mark: str
    patience: float
    last_record: Callable[[], float]

    async def over(self, starting: Coroutine[Any, Any, ProcessOutcome]) -> ProcessOutcome:
        """Start the process, and wait for its end, but only for so long as its tests end or do something."""
        began = time.monotonic()
        running = asyncio.ensure_future(starting)
        try:
            for stopped in range(_MOST_STOPPED + 1):
                if await self._ends(running):
                    return running.result()
                if stopped == _MOST_STOPPED or not await self._goes_on(running):
                    break
            return ProcessOutcome(
                -9, "", "", timed_out=True, truncated=False, seconds=time.monotonic() - began
            )
        finally:
            running.cancel()
            await asyncio.wait({running})

    async def _ends(self, running: asyncio.Future[ProcessOutcome]) -> bool:
        """Return True as soon as the process ends, and False if it does nothing any more."""
        stuck = asyncio.ensure_future(until_stuck(self.mark, self.patience, self.last_record))
        try:
            await asyncio.wait({running, stuck}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stuck.cancel()
            await asyncio.wait({stuck})
        return running.done()

    async def _goes_on(self, running: asyncio.Future[ProcessOutcome]) -> bool:
        """End the running test. Return True if the process then ends or sends a record in time."""
        last = self.last_record()
        if not await asyncio.to_thread(stop_test, self.mark, self.program):
            return False
        end = time.monotonic() + stretched(_TO_STOP)
        while time.monotonic() < end and self.last_record() == last and not running.done():
            await asyncio.wait({running}, timeout=_TO_STOP / 10)
        return running.done() or self.last_record() > last
