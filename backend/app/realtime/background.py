"""Runs the loops of this package in the background of a block of code."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

logger = logging.getLogger(__name__)

RESTART_PAUSE_SECONDS = 1.0


@asynccontextmanager
async def in_background(*loops: Callable[[], Awaitable[None]]) -> AsyncGenerator[None]:
    """Run endless loops while the block runs; at its end they are cancelled and awaited."""
    tasks = [asyncio.create_task(_keep_running(loop)) for loop in loops]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def _keep_running(loop: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            await loop()
        except Exception:
            # A broad except at an edge of the process: no task awaits a loop, so its failure would be silent,
            # and one bad row would cut off every client of the process.
            logger.exception("%s failed; restarting it", loop)
        await asyncio.sleep(RESTART_PAUSE_SECONDS)
