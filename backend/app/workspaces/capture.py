"""Receives the output of child processes through pipes and keeps a bounded part of each stream."""

import asyncio
import os
from contextlib import ExitStack
from typing import IO


class Capture(asyncio.Protocol):
    """Receives one stream and keeps its first `head` and its last `tail` bytes.

    Attributes:
        truncated: True if output was dropped from the middle.
        closed: resolved when the stream has ended.
    """

    def __init__(self, head: int, tail: int) -> None:
        self._head_limit, self._tail_limit = head, tail
        self._head = bytearray()
        self._tail = bytearray()
        self.truncated = False
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        """Keep as much of the data as fits."""
        room = self._head_limit - len(self._head)
        self._head += data[:room]
        if len(data) <= room:
            return
        self._tail += data[room:]
        if len(self._tail) > self._tail_limit:
            self.truncated = True
            del self._tail[: len(self._tail) - self._tail_limit]

    def connection_lost(self, exc: Exception | None) -> None:
        """Record the end of the stream."""
        if not self.closed.done():
            self.closed.set_result(None)

    def kept(self) -> bytes:
        """Return the bytes that were kept."""
        return bytes(self._head + self._tail)

    def text(self) -> str:
        """Return the kept bytes as text, with a line that marks the gap."""
        gap = b"\n[output cut here]\n" if self.truncated else b""
        return bytes(self._head + gap + self._tail).decode("utf-8", "replace")


async def pipe_into(
    receiver: asyncio.BaseProtocol, ends: ExitStack, readers: list[asyncio.ReadTransport]
) -> IO[bytes]:
    """Open a pipe and return its writing end. Data written there arrives in `receiver`."""
    read_end, write_end = os.pipe()
    sink = ends.enter_context(os.fdopen(write_end, "wb", 0))
    source = os.fdopen(read_end, "rb", 0)
    try:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: receiver, source)
    except BaseException:
        source.close()
        raise
    readers.append(transport)
    return sink
