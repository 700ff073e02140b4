"""The heartbeats of one connection: a timer, and a task only for a client that cannot take one at once."""

import asyncio
from collections.abc import Callable, Sequence

from app.api.streams.life import Life
from app.api.streams.pipe import Pipe
from app.core.event_frames import HeartbeatFrame


class Heartbeats:
    """Sends the result of `frames` every `seconds` until stopped; a client that takes none is too slow."""

    __slots__ = ("_frames", "_late", "_life", "_pipe", "_seconds", "_timer")

    def __init__(
        self, pipe: Pipe, frames: Callable[[], Sequence[HeartbeatFrame]], life: Life, seconds: float
    ) -> None:
        self._pipe = pipe
        self._frames = frames
        self._life = life
        self._seconds = seconds
        self._late: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(seconds, self._beat)

    def stop(self) -> None:
        """Stop sending."""
        self._timer.cancel()
        if self._late is not None:
            self._late.cancel()

    def _beat(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._beat)
        if self._late is not None and not self._late.done():
            return
        self._late = None
        late = [frame for frame in self._frames() if not self._pipe.offer_frame(frame)]
        if late:
            self._late = asyncio.create_task(self._send(late))
            self._life.tie(self._late)

    async def _send(self, frames: Sequence[HeartbeatFrame]) -> None:
        for frame in frames:
            await self._pipe.send_frame(frame)
