"""A connection's block ends for the first reason that anybody gives, and for no other."""

import asyncio

import pytest

from app.api.streams.life import Life

pytestmark = pytest.mark.anyio


class Reason(Exception):
    """Why a connection ends."""


async def hold(life: Life, until: "asyncio.Future[None]") -> str:
    with life:
        await until
    return "to its end"


def held(life: Life) -> tuple["asyncio.Task[str]", "asyncio.Future[None]"]:
    until: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    return asyncio.create_task(hold(life, until)), until


async def test_the_first_reason_ends_it() -> None:
    life = Life()
    task, _ = held(life)
    await asyncio.sleep(0)
    life.end(Reason("first"))
    life.end(Reason("second"))
    with pytest.raises(Reason, match="first"):
        await task
    assert not task.cancelling()


async def test_a_reason_from_before_ends_it_when_it_begins() -> None:
    life = Life()
    life.end(Reason("early"))
    task, _ = held(life)
    with pytest.raises(Reason, match="early"):
        await task


async def test_a_reason_counts_until_the_block_goes_on() -> None:
    life = Life()
    task, until = held(life)
    await asyncio.sleep(0)
    until.set_result(None)
    life.end(Reason("just in time"))
    with pytest.raises(Reason, match="just in time"):
        await task


async def test_a_reason_from_afterwards_is_of_no_interest() -> None:
    life = Life()
    with life:
        pass
    life.end(Reason("late"))
    await asyncio.sleep(0)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_who_is_cancelled_as_well_stays_cancelled() -> None:
    life = Life()
    task, _ = held(life)
    await asyncio.sleep(0)
    life.end(Reason("beside"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_task_that_fails_ends_it_and_one_that_is_cancelled_does_not() -> None:
    async def fail() -> None:
        raise Reason("failed")

    life = Life()
    task, _ = held(life)
    cancelled = asyncio.create_task(asyncio.sleep(60))
    life.tie(cancelled)
    await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.wait([cancelled])
    await asyncio.sleep(0)
    assert not task.done()
    life.tie(asyncio.create_task(fail()))
    with pytest.raises(Reason, match="failed"):
        await task
