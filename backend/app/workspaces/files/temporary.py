"""Lends temporary directories. They are removed only after the threads that write to them have ended."""

import asyncio
import contextvars
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import anyio

from app.core.errors import WorkspaceError
from app.workspaces.files.removal import remove_tree

logger = logging.getLogger(__name__)

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@asynccontextmanager
async def temporary_directory(
    make: Callable[[], str | Path], remove: Callable[[Path], Coroutine[Any, Any, None]] = remove_tree
) -> AsyncGenerator[Path]:
    """Create a directory, and remove it at the end of the block, even if the block is cancelled.

    If the block fails and the directory cannot be removed, that is only logged.

    Args:
        make: creates the directory. It runs in a thread.
        remove: removes the directory.

    Raises:
        WorkspaceError: the directory cannot be removed.
    """
    made: list[Path] = []
    try:
        await in_thread(lambda: made.append(Path(make())))
        yield made[0]
    except BaseException:
        for place in made:
            await _to_the_end(_removed_or_told(place, remove))
        raise
    await _to_the_end(remove(made[0]))


async def in_thread(
    function: Callable[Arguments, Result], *args: Arguments.args, **options: Arguments.kwargs
) -> Result:
    """Run a function in a thread, and wait for its end even if the caller is cancelled.

    `asyncio.to_thread` returns at once in that case, and its thread goes on.
    """
    call = partial(contextvars.copy_context().run, function, *args, **options)
    return await _finished(asyncio.get_running_loop().run_in_executor(None, call))


async def _finished(work: asyncio.Future[Result]) -> Result:
    """Wait for the end of some work. If the caller is cancelled, raise that after the end."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            while not work.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait({work})
        if not work.cancelled() and (error := work.exception()):
            logger.warning("the end of a cancelled task failed: %s", error)
        raise


async def _to_the_end(removal: Coroutine[Any, Any, None]) -> None:
    with anyio.CancelScope(shield=True):
        await _finished(asyncio.ensure_future(removal))


async def _removed_or_told(place: Path, remove: Callable[[Path], Awaitable[None]]) -> None:
    try:
        await remove(place)
    except (OSError, WorkspaceError) as error:
        logger.warning("cannot remove %s: %s", place, error)
