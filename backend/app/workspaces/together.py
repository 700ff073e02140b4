"""Awaits coroutines at once, and fails like the first one that fails."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

A = TypeVar("A")
B = TypeVar("B")


async def together(first: Coroutine[Any, Any, A], second: Coroutine[Any, Any, B]) -> tuple[A, B]:
    """Run both concurrently. Return both results. If one fails, cancel and await the other."""
    try:
        async with asyncio.TaskGroup() as group:
            one, other = group.create_task(first), group.create_task(second)
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return one.result(), other.result()


async def all_together(parts: Iterable[Coroutine[Any, Any, A]]) -> list[A]:
    """Run all concurrently. Return their results in order. If one fails, cancel and await the others."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in parts]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [each.result() for each in tasks]


@asynccontextmanager
async def meanwhile(work: Coroutine[Any, Any, A]) -> AsyncGenerator[asyncio.Task[A]]:
    """Begin some work, and yield its task. At the end of the block, cancel the task and wait for its end.

    A failure matters only to a caller that awaits the task.
    """
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()
