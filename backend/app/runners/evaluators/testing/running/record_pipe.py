"""The pipe through which a test run reports."""

import asyncio
import os

_MAX_STREAM_BYTES = 64_000_000
_DRAIN_SECONDS = 1.0
_LEFT_OUT = b'"left_out"'


class RecordPipe:
    """A pipe that is read while the process at its other end runs.

    Attributes:
        last_record: when something last came, by the clock of the event loop.

    Args:
        short: set as soon as a record says that a test was left out; its signature is not checked yet.
    """

    def __init__(self, short: asyncio.Event | None = None) -> None:
        self._short = short
        self.last_record = asyncio.get_running_loop().time()
        reading, self.writing = os.pipe()
        self._kept = bytearray()
        self._task = asyncio.create_task(self._read(reading))

    async def finish(self) -> bytes:
        """Close our writing end, wait for the remaining data, and return all data."""
        os.close(self.writing)
        # A descendant that left the process group may hold the pipe open for ever. Only the data so far
        # counts.
        await asyncio.wait([self._task], timeout=_DRAIN_SECONDS)
        self._task.cancel()
        await asyncio.wait([self._task])
        return bytes(self._kept)

    async def _read(self, fd: int) -> None:
        reader = asyncio.StreamReader()
        pipe = os.fdopen(fd, "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            # Data beyond the limit is dropped. The stream then has no end and counts as torn.
            while chunk := await reader.read(65_536):
                self.last_record = asyncio.get_running_loop().time()
                self._kept += chunk[: _MAX_STREAM_BYTES - len(self._kept)]
                if self._short is not None and _LEFT_OUT in chunk:
                    self._short.set()
        finally:
            transport.close()
