"""Hints are merged; the look everywhere comes in time, with or without hints."""

import asyncio
from uuid import uuid4

import pytest

from app.realtime.inbox import Hint, HintInbox
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio


async def test_hints_are_merged_and_given_once() -> None:
    inbox, first, second = HintInbox(1_000.0), uuid4(), uuid4()
    assert await inbox.take() == Hint(frozenset(), everywhere=True)  # to begin with
    inbox.ring([first])
    inbox.ring([second, first])
    assert await inbox.take() == Hint(frozenset({first, second}), everywhere=False)
    inbox.ring_everywhere()
    inbox.ring([second])
    assert await inbox.take() == Hint(frozenset({second}), everywhere=True)


async def test_without_hints_it_polls() -> None:
    inbox = HintInbox(0.001)
    for _ in range(3):
        assert (await inbox.take()).everywhere


async def test_steady_hints_do_not_put_off_the_poll() -> None:
    inbox, busy = HintInbox(0.02), uuid4()
    await inbox.take()
    everywhere = False
    async with asyncio.timeout(PATIENCE):
        while not everywhere:
            inbox.ring([busy])
            bell = await inbox.take()
            assert busy in bell.run_ids
            everywhere = bell.everywhere
            await asyncio.sleep(0.001)
