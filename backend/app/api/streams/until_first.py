"""Runs parts of a connection side by side until the first of them ends."""

import asyncio
from collections.abc import Coroutine
from typing import Any


async def until_first(*parts: Coroutine[Any, Any, None]) -> None:
    """Run coroutines until one ends, then cancel the others and wait for them.

    Raises:
        Exception: the error of the first coroutine that ended. Errors of the others during their
            cancellation are ignored.
    """
    tasks = [asyncio.create_task(part) for part in parts]
    try:
        ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await cancel_and_wait(*tasks)
    for task in tasks:
        if task in ended:
            task.result()


async def cancel_and_wait(*tasks: asyncio.Task[None]) -> None:
    """Cancel tasks and wait until they have ended, however they end."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not report it as lost
