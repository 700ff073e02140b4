"""What a signal ends: the block, in order, and not the process."""

import asyncio
import os
import signal

import pytest

from app.core.signals import ended_by_signals

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_the_block_once_its_parts_have_ended(number: int) -> None:
    ended: list[str] = []
    with ended_by_signals():
        try:
            os.kill(os.getpid(), number)
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("the part")
    assert ended == ["the part"]


async def test_a_cancellation_without_a_signal_is_raised() -> None:
    async def wait() -> None:
        with ended_by_signals():
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_caller_that_cancels_too_is_obeyed() -> None:
    async def wait() -> None:
        with ended_by_signals():
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                await asyncio.Event().wait()
            finally:
                task.cancel()

    task = asyncio.create_task(wait())
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_signal_acts_as_before_once_the_block_has_ended() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with ended_by_signals():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


async def test_in_another_thread_it_does_nothing() -> None:
    def run() -> str:
        async def block() -> str:
            with ended_by_signals():
                return "ran"

        return asyncio.run(block())

    assert await asyncio.to_thread(run) == "ran"
