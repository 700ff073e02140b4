"""Starts one child process with streams as input and output, and ends its process group with the block."""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import IO, cast

import anyio

from app.workspaces.capture import Capture, pipe_into
from app.workspaces.ending import exit_of, kill_and_reap
from app.workspaces.owner_mark import children_mark

LINE_LIMIT = 50_000_000
"""Longest line of output, in bytes. Agents print whole files as one line of JSON."""

_STDERR_HALF = 32_768
_DRAIN_SECONDS = 1.0
"""Seconds without output after the process's end before a descendant that holds the pipe no longer counts."""


class StreamingProcess:
    """A running process.

    Attributes:
        stdin: its standard input.
        stdout: its standard output. `readline` raises `ValueError` for a line longer than the limit.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        stdin: asyncio.StreamWriter,
        stdout: "_Output",
        stderr: Capture,
    ) -> None:
        self.stdin = stdin
        self.stdout = stdout.reader
        self._output = stdout
        self._process = process
        self._stderr = stderr

    def stderr(self) -> str:
        """Return the start and the end of standard error so far."""
        return self._stderr.text()

    async def wait(self) -> int:
        """Wait for the process's end. Return its exit status, negative for a signal.

        Its standard output ends, too, even if a descendant still holds the pipe.
        """
        await exit_of(self._process)
        # The group is killed before the process is reaped, because its number may later be another group's.
        status = await kill_and_reap(self._process)
        await self._output.end()
        return status

    async def terminate(self, grace: float) -> int:
        """Send TERM to the group, then KILL after `grace` seconds. Return the exit status."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGTERM)
        return await self.kill_after(grace)

    async def kill_after(self, grace: float) -> int:
        """Wait up to `grace` seconds for the end, then kill the group. Return the exit status."""
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                return await self.wait()
        return await kill_and_reap(self._process)


@asynccontextmanager
async def start_process(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    line_limit: int = LINE_LIMIT,
    pass_fds: Sequence[int] = (),
) -> AsyncGenerator[StreamingProcess]:
    """Start `argv` in a new session. Leaving the block kills its process group.

    The environment is exactly `env`, plus the owner's number if children are marked. Only the start and the
    end of standard error are kept. A descendant in another session escapes the kill, as with `run_process`.

    Raises:
        FileNotFoundError: the program or `cwd` does not exist.
        PermissionError: the program cannot be executed.
    """
    stderr = Capture(_STDERR_HALF, _STDERR_HALF)
    readers: list[asyncio.ReadTransport] = []
    async with AsyncExitStack() as stack:
        stack.callback(_close_all, readers)
        with ExitStack() as ends:
            source, feeding = _pipe_to_child(ends)
            stdin = await _writer(feeding, stack)
            stdout = _Output(asyncio.StreamReader(limit=line_limit))
            output = await pipe_into(stdout, ends, readers)
            errors = await pipe_into(stderr, ends, readers)
            process = subprocess.Popen(  # noqa: ASYNC220 - starting takes 0.2 ms and cannot be interrupted half-way
                argv,
                cwd=cwd,
                env={**env, **children_mark()},
                stdin=source,
                stdout=output,
                stderr=errors,
                start_new_session=True,
                pass_fds=tuple(pass_fds),
            )
        stack.push_async_callback(_end, process)
        yield StreamingProcess(process, stdin, stdout, stderr)


async def _end(process: subprocess.Popen[bytes]) -> None:
    with anyio.CancelScope(shield=True):
        await kill_and_reap(process)


def _close_all(transports: Sequence[asyncio.ReadTransport]) -> None:
    for each in transports:
        each.close()


def _pipe_to_child(ends: ExitStack) -> tuple[IO[bytes], IO[bytes]]:
    """Create a pipe. Return the child's reading end, which `ends` closes, and the writing end."""
    reading, writing = os.pipe()
    return ends.enter_context(os.fdopen(reading, "rb", 0)), os.fdopen(writing, "wb", 0)


def _drop(transport: asyncio.WriteTransport, feed: "_Feed") -> None:
    is_ending = transport.is_closing() and transport.get_write_buffer_size() == 0
    if not (feed.is_lost or is_ending):
        transport.abort()


class _Output(asyncio.StreamReaderProtocol):
    """The asyncio protocol of standard output, which can end before the pipe does.

    Attributes:
        reader: gets the output.
    """

    def __init__(self, reader: asyncio.StreamReader) -> None:
        super().__init__(reader)
        self.reader = reader
        self._closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pipe: asyncio.ReadTransport | None = None
        self._received = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._pipe = cast("asyncio.ReadTransport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if not self._closed.done():
            self._closed.set_result(None)

    async def end(self) -> None:
        """Wait for the end of the output. Close it once nothing more arrives."""
        while not self._closed.done():
            before = self._received
            await asyncio.wait([self._closed], timeout=_DRAIN_SECONDS)
            if self._pipe is not None and self._pipe.is_reading() and self._received == before:
                self._pipe.close()
                break


class _Feed(asyncio.StreamReaderProtocol):
    """The asyncio protocol that lets a writer wait until it is closed, and records whether it is."""

    is_lost = False

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        super().connection_lost(exc)


async def _writer(sink: IO[bytes], stack: AsyncExitStack) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    feed = _Feed(asyncio.StreamReader())
    try:
        transport, _ = await loop.connect_write_pipe(lambda: feed, sink)
    except BaseException:
        sink.close()
        raise
    # Unsent data is dropped, because its reader is gone.
    stack.callback(_drop, transport, feed)
    return asyncio.StreamWriter(transport, feed, None, loop)
