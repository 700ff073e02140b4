"""Stops the server after its last user; a script that imports nothing of this package.

Arguments: the cluster's home, and optionally `--remove` to delete the home afterwards.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

FAST_SECONDS = 30.0
POLL_SECONDS = 0.05


def main() -> None:
    """Hold the reaper's lock, wait for the users' lock, and stop the server."""
    home = Path(sys.argv[1])
    is_throwaway = "--remove" in sys.argv[2:]
    with (
        (home / "reaper.lock").open("r+b") as mine,
        (home / "users.lock").open("r+b") as users,
        (home / "server.lock").open("r+b") as server,
    ):
        if not _try(mine):
            return  # another reaper is running
        fcntl.flock(users, fcntl.LOCK_EX)
        if stop(home / "data", server) and is_throwaway:
            shutil.rmtree(home, ignore_errors=True)
            with suppress(OSError):
                home.parent.rmdir()  # fails if the directory is not empty
        # In this order: the next holder of the users' lock must not mistake this reaper
        # for one that still waits.
        fcntl.flock(mine, fcntl.LOCK_UN)
        fcntl.flock(users, fcntl.LOCK_UN)


def stop(data: Path, server: IO[bytes]) -> bool:
    """Shut the server down, at first gracefully.

    Args:
        data: the server's data directory.
        server: the file that each of the server's processes holds a lock on; locked here on success.

    Returns:
        True if no process of the server is left.
    """
    for how in (signal.SIGINT, signal.SIGQUIT):
        is_told = False
        deadline = time.monotonic() + FAST_SECONDS
        while time.monotonic() < deadline:
            if _try(server):
                return True
            # A server that was just launched has not written its process id yet.
            pid = None if is_told else postmaster_pid(data)
            if pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(pid, how)
                is_told = True
            time.sleep(POLL_SECONDS)
    return False


def postmaster_pid(data: Path) -> int | None:
    """Return the process id of the server on a data directory; a stale file may name another process."""
    pid = recorded_pid(data)
    return pid if pid is not None and _serves(pid, data) else None


def recorded_pid(data: Path) -> int | None:
    """Return the process id in the pid file, unchecked; None if the file is missing or incomplete."""
    try:
        pid = int((data / "postmaster.pid").read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    return pid if pid > 0 else None


def _serves(pid: int, data: Path) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return not Path("/proc/self").exists() and f"postgres -D {data} " in _command_by_ps(pid)
    return command[0].endswith(b"postgres") and command[1:3] == [b"-D", os.fsencode(data)]


def _command_by_ps(pid: int) -> str:
    # macOS has no /proc.
    command = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _try(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


if __name__ == "__main__":
    main()
