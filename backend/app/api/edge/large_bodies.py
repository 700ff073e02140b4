"""Reads bodies that may be large before their sender is known, within bounds on memory and time."""

from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import asynccontextmanager

import anyio

from app.core.errors import BusyError, InvalidInputError

_SMALL_BYTES = 1_000_000
_PLACES = 4
_SECONDS = 15.0


class LargeBodies:
    """Lets only a few bodies be large at the same time. Small ones need no place.

    Args:
        places: how many bodies may be large; each may take as much memory as the largest allowed body.
        seconds: how long a body may take to arrive, so that a slow sender does not keep a place.
    """

    def __init__(self, places: int = _PLACES, seconds: float = _SECONDS) -> None:
        self._free = places
        self._seconds = seconds

    @asynccontextmanager
    async def whole(self, chunks: AsyncIterable[bytes]) -> AsyncGenerator[bytearray]:
        """Yield a body, which keeps its place until the block is left.

        Raises:
            BusyError: a large body finds no free place.
            InvalidInputError: the body takes too long to arrive.
        """
        kept, held = bytearray(), False
        try:
            with anyio.move_on_after(self._seconds) as limit:
                async for chunk in chunks:
                    kept += chunk
                    if len(kept) > _SMALL_BYTES and not held:
                        held = self._take_place()
            if limit.cancelled_caught:
                raise InvalidInputError(f"the body did not arrive within {self._seconds:g} s", field="body")
            yield kept
        finally:
            self._free += held

    def _take_place(self) -> bool:
        if self._free < 1:
            raise BusyError("too many large bodies arrive at once; send it again")
        self._free -= 1
        return True
