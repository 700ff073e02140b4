"""Runs one child process to its end: bounded in time and output, and never leaving a descendant behind."""

import asyncio
import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_CHUNK = 65_536
_DRAIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class ProcessOutcome:
    """How a process ended.

    Attributes:
        returncode: exit status; negative is the signal that ended it.
        stdout: what was kept of standard output, head and tail of at most the limit.
        stderr: the same for standard error.
        timed_out: True when the deadline killed it.
        truncated: True when output was dropped from the middle of either stream.
        seconds: wall-clock duration.
    """

    returncode: int
    stdout: str
    stderr: str
    timed_out: bool
    truncated: bool
    seconds: float


class _BoundedBuffer:
    """Keeps the first and the last half of what is fed to it."""

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self.truncated = False

    def feed(self, chunk: bytes) -> None:
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:] if room > 0 else chunk
        if len(self._tail) > self._half:
            self.truncated = True
            del self._tail[: -self._half]

    def text(self) -> str:
        gap = b"\n[output cut here]\n" if self.truncated else b""
        return bytes(self._head + gap + self._tail).decode("utf-8", "replace")


async def run_process(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    output_limit: int = 1_000_000,
    stdin: bytes | None = None,
    pass_fds: Sequence[int] = (),
) -> ProcessOutcome:
    """Run `argv` in its own session until it ends or `timeout` seconds have passed.

    The whole process group is killed when the leader ends, when time is up and when the caller is
    cancelled. The environment is exactly `env`.

    Raises:
        FileNotFoundError: the program or `cwd` does not exist.
        PermissionError: the program cannot be executed.
    """
    started = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=cwd,
        env=dict(env),
        stdin=asyncio.subprocess.PIPE if stdin is not None else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        pass_fds=tuple(pass_fds),
    )
    out, err = _BoundedBuffer(output_limit), _BoundedBuffer(output_limit)
    pumps = [
        asyncio.create_task(_pump(process.stdout, out)),
        asyncio.create_task(_pump(process.stderr, err)),
        asyncio.create_task(_feed(process.stdin, stdin)),
    ]
    timed_out = False
    try:
        async with asyncio.timeout(timeout):
            await process.wait()
    except TimeoutError:
        timed_out = True
    finally:
        kill_group(process.pid)
        # Reaping and draining are short and must also happen when the caller is being cancelled.
        await asyncio.shield(_settle(process, pumps))
    return ProcessOutcome(
        returncode=process.returncode if process.returncode is not None else -signal.SIGKILL,
        stdout=out.text(),
        stderr=err.text(),
        timed_out=timed_out,
        truncated=out.truncated or err.truncated,
        seconds=time.monotonic() - started,
    )


def kill_group(leader: int) -> None:
    """Kill every process of the group that `leader` leads; none is left is no error."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


async def _settle(process: asyncio.subprocess.Process, pumps: Sequence["asyncio.Task[None]"]) -> None:
    await process.wait()
    # A descendant that left the group may hold the pipes open for ever; what is read by then counts.
    _, pending = await asyncio.wait(pumps, timeout=_DRAIN_SECONDS)
    for task in pending:
        task.cancel()
    await asyncio.wait(pumps)


async def _pump(stream: asyncio.StreamReader | None, into: _BoundedBuffer) -> None:
    while stream is not None and (chunk := await stream.read(_CHUNK)):
        into.feed(chunk)


async def _feed(stream: asyncio.StreamWriter | None, data: bytes | None) -> None:
    if stream is None or data is None:
        return
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.write(data)
        await stream.drain()
    stream.close()
