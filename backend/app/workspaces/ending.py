"""Waits for the end of processes, and kills whole process groups."""

import asyncio
import os
import signal
import subprocess
from contextlib import suppress

import anyio
import anyio.to_thread


async def kill_and_reap(process: subprocess.Popen[bytes]) -> int:
    """Kill the group that the process leads, and return its exit status. A reaped process is left alone."""
    if process.returncode is not None:
        return process.returncode
    # The leader is not reaped yet, so no other group can have its number.
    kill_group(process.pid)
    try:
        # A large process takes a while to die. Wait for it even if the caller is being cancelled.
        with anyio.CancelScope(shield=True):
            await asyncio.shield(exit_of(process))
    finally:
        returncode = process.wait()
    return returncode


def kill_group(leader: int) -> None:
    """Kill every process of the group that `leader` leads. An empty group is no error."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


async def exit_of(process: subprocess.Popen[bytes]) -> None:
    """Wait until the process has ended, if possible without reaping it (Linux)."""
    if not hasattr(os, "pidfd_open"):
        await anyio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
        return
    await wait_for_exit(process.pid)


async def wait_for_exit(pid: int) -> None:
    """Wait until a process has ended, even if it is not a child (Linux). Return at once if it is gone."""
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
