"""Runs one child process to its end, within limits of time and output, and ends its whole process group."""

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import anyio
import anyio.to_thread

from app.workspaces.capture import Capture, pipe_into
from app.workspaces.ending import exit_of, kill_and_reap
from app.workspaces.owner_mark import children_mark

_DRAIN_SECONDS = 1.0
_STDERR_LIMIT = 65_536


@dataclass(frozen=True, slots=True)
class ProcessOutcome:
    """How a process ended.

    Attributes:
        returncode: exit status; negative is the signal that ended it.
        stdout: the kept part of standard output: head and tail, at most the limit.
        stderr: the same for standard error.
        timed_out: True if the deadline killed it.
        truncated: True if output was dropped from the middle of either stream.
        seconds: wall-clock duration.
    """

    returncode: int
    stdout: str
    stderr: str
    timed_out: bool
    truncated: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class BytesOutcome:
    """How a process with binary output ended.

    Attributes:
        returncode: exit status; negative is the signal that ended it.
        stdout: standard output up to the limit, from its start.
        stderr: standard error as text, head and tail.
        timed_out: True if the deadline killed it.
        truncated: True if standard output was longer than the limit.
    """

    returncode: int
    stdout: bytes
    stderr: str
    timed_out: bool
    truncated: bool


@dataclass(frozen=True, slots=True)
class _Ending:
    returncode: int
    timed_out: bool
    seconds: float


async def run_process(  # noqa: PLR0913 - each is an independent part of one launch
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    output_limit: int = 1_000_000,
    stdin: bytes | None = None,
    pass_fds: Sequence[int] = (),
    niceness: int = 0,
) -> ProcessOutcome:
    """Run `argv` in its own session until it ends or `timeout` seconds have passed.

    The whole process group is killed when the leader ends, when time is up and when the caller is cancelled.
    A descendant that began a new session escapes that (only a sandbox's pid namespace ends it), but this
    function does not wait for it, and its output no longer counts. The environment is exactly `env`, plus the
    owner's number if children are marked. With a `niceness`, other processes of the machine go first.

    Raises:
        FileNotFoundError: the program or `cwd` does not exist.
        PermissionError: the program cannot be executed.
    """
    half = max(1, output_limit // 2)
    out, err = Capture(half, half), Capture(half, half)
    ending = await _run(argv, cwd, env, timeout, stdin, (out, err), pass_fds, niceness)
    return ProcessOutcome(
        returncode=ending.returncode,
        stdout=out.text(),
        stderr=err.text(),
        timed_out=ending.timed_out,
        truncated=out.truncated or err.truncated,
        seconds=ending.seconds,
    )


async def run_for_bytes(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    output_limit: int,
    stdin: bytes | None = None,
) -> BytesOutcome:
    """Run `argv` like `run_process`, and keep its standard output as bytes, from its start up to the limit.

    Raises:
        FileNotFoundError: the program or `cwd` does not exist.
        PermissionError: the program cannot be executed.
    """
    out, err = Capture(output_limit, 0), Capture(_STDERR_LIMIT // 2, _STDERR_LIMIT // 2)
    ending = await _run(argv, cwd, env, timeout, stdin, (out, err), ())
    return BytesOutcome(ending.returncode, out.kept(), err.text(), ending.timed_out, out.truncated)


async def _run(  # noqa: PLR0913 - as above
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    stdin: bytes | None,
    captures: tuple[Capture, Capture],
    pass_fds: Sequence[int],
    niceness: int = 0,
) -> _Ending:
    started = time.monotonic()
    timed_out = False
    readers: list[asyncio.ReadTransport] = []
    try:
        process = await _start(argv, cwd, env, stdin, captures, pass_fds, readers)
        if niceness:
            _let_others_go_first(process.pid, niceness)
        try:
            async with asyncio.timeout(timeout):
                await exit_of(process)
        except TimeoutError:
            timed_out = True
        finally:
            returncode = await kill_and_reap(process)
        # A descendant that left the group may hold the pipes open for ever. Only the output read so far
        # counts.
        await asyncio.wait([capture.closed for capture in captures], timeout=_DRAIN_SECONDS)
    finally:
        for reader in readers:
            reader.close()
    await asyncio.wait([capture.closed for capture in captures])
    return _Ending(returncode, timed_out, time.monotonic() - started)


def _let_others_go_first(leader: int, niceness: int) -> None:
    with suppress(OSError):  # it has ended, or this is another system
        os.setpriority(os.PRIO_PROCESS, leader, os.getpriority(os.PRIO_PROCESS, leader) + niceness)
        # Linux shares the processor among sessions first, and this process leads one.
        Path(f"/proc/{leader}/autogroup").write_text(str(niceness))


async def _start(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes | None,
    captures: tuple[Capture, Capture],
    pass_fds: Sequence[int],
    readers: list[asyncio.ReadTransport],
) -> subprocess.Popen[bytes]:
    # The event loop's own subprocesses do not serve here: their `wait()` waits for every process that holds
    # the pipes, they reap before the group can be killed, and on uvloop they take twice as long to start.
    with ExitStack() as ends:
        source = subprocess.DEVNULL if stdin is None else ends.enter_context(await _as_file(stdin))
        sinks = [await pipe_into(capture, ends, readers) for capture in captures]
        return subprocess.Popen(  # noqa: ASYNC220 - starting takes 0.2 ms and cannot be interrupted half-way
            argv,
            cwd=cwd,
            env={**env, **children_mark()},
            stdin=source,
            stdout=sinks[0],
            stderr=sinks[1],
            start_new_session=True,
            pass_fds=tuple(pass_fds),
        )


async def _as_file(data: bytes) -> IO[bytes]:
    """Return a file with `data` as its content. Unlike a pipe it needs no writer, and no reader can block."""

    def write() -> IO[bytes]:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        file.write(data)
        file.seek(0)
        return file

    return await anyio.to_thread.run_sync(write)
