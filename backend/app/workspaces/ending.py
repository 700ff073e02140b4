"""Waits for the end of processes, and ends whole groups of them."""

import asyncio
import os
import signal
import subprocess
from contextlib import suppress

import anyio
import anyio.to_thread


async def kill_and_reap(process: subprocess.Popen[bytes]) -> int:
    """Kill the group that the process leads and give its exit status; one that is reaped is left alone."""
    if process.returncode is not None:
        return process.returncode
    # The leader is not reaped yet, so its number cannot have gone to another group.
    kill_group(process.pid)
    try:
        # A large process takes a while to die; this must also happen when the caller is being cancelled.
        with anyio.CancelScope(shield=True):
            await asyncio.shield(exit_of(process))
    finally:
        returncode = process.wait()
    return returncode


def kill_group(leader: int) -> None:
    """Kill every process of the group that `leader` leads; none is left is no error."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


async def exit_of(process: subprocess.Popen[bytes]) -> None:
    """Wait until the process has ended, without reaping it where the system can tell (Linux)."""
    if not hasattr(os, "pidfd_open"):
        await anyio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
        return
    await wait_for_exit(process.pid)


async def wait_for_exit(pid: int) -> None:
    """Wait until a process has ended, also one that is not a child; one that is gone has (Linux)."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        loop.add_reader(handle, lambda: ended.done() or ended.set_result(None))
        await ended
    finally:
        loop.remove_reader(handle)
        os.close(handle)
