"""Runs the service's recurring chores, and continues when one fails."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from app.db.outages import is_outage

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Chore:
    """Work that is done every `seconds`, first at the start. `act` returns how many things it did."""

    name: str
    seconds: float
    act: Callable[[], Awaitable[int]]


@asynccontextmanager
async def doing_chores(chores: Sequence[Chore]) -> AsyncGenerator[None]:
    """Do the chores in the background while the block runs."""
    tasks = [asyncio.create_task(_again_and_again(each), name=each.name) for each in chores]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


async def _again_and_again(chore: Chore) -> None:
    while True:
        try:
            done = await chore.act()
        except Exception as error:
            # A chore that stopped would go unnoticed until it mattered.
            if is_outage(error):
                logger.warning("postponed %s, the database is unavailable: %s", chore.name, error)
            else:
                logger.exception("%s failed; it runs again at its next turn", chore.name)
        else:
            if done:
                logger.info("%s: %d done", chore.name, done)
        await asyncio.sleep(chore.seconds)
