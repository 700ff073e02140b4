"""Bodies of senders that are not known yet: few large ones at once, and none for ever."""

from collections.abc import AsyncGenerator
from contextlib import suppress

import anyio
import pytest

from app.api.edge.large_bodies import LargeBodies
from app.core.errors import BusyError, InvalidInputError

pytestmark = pytest.mark.anyio


async def chunks(size: int, then: anyio.Event | None = None) -> AsyncGenerator[bytes]:
    for _ in range(size // 100_000):
        yield b"x" * 100_000
    if then is not None:
        await then.wait()


async def test_large_ones_need_a_place_and_give_it_back() -> None:
    bodies = LargeBodies(places=1)
    async with bodies.whole(chunks(2_000_000)) as first:
        assert len(first) == 2_000_000
        with pytest.raises(BusyError, match="send it again"):
            async with bodies.whole(chunks(2_000_000)):
                raise AssertionError
        async with bodies.whole(chunks(500_000)) as small:
            assert len(small) == 500_000
    with pytest.raises(RuntimeError):
        async with bodies.whole(chunks(2_000_000)):
            raise RuntimeError
    async with bodies.whole(chunks(2_000_000)) as last:
        assert len(last) == 2_000_000


async def test_a_slow_sender_does_not_keep_a_place() -> None:
    bodies = LargeBodies(places=1, seconds=0.1)
    with pytest.raises(InvalidInputError, match="did not arrive within"):
        async with bodies.whole(chunks(2_000_000, anyio.Event())):
            raise AssertionError
    # The next one finds it free; a busy machine may be as slow as that sender.
    with suppress(InvalidInputError):
        async with bodies.whole(chunks(2_000_000)):
            pass
