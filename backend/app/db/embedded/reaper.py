"""Waits until nobody uses the server any more, then stops it; a script that needs nothing of our package.

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

FAST_SECONDS = 30.0
POLL_SECONDS = 0.05


def main() -> None:
    """Hold the reaper's lock, wait for the users' lock, stop the server."""
    home = Path(sys.argv[1])
    is_throwaway = "--remove" in sys.argv[2:]
    with (home / "reaper.lock").open("w") as mine, (home / "users.lock").open("r+") as users:
        try:
            fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return  # there is one already
        fcntl.flock(users, fcntl.LOCK_EX)
        stop(home)
        if is_throwaway:
            shutil.rmtree(home, ignore_errors=True)
            with suppress(OSError):
                home.parent.rmdir()  # unless there is something else in it
        # In this order: who gets the users' lock next must not take this reaper for one that still waits.
        fcntl.flock(mine, fcntl.LOCK_UN)
        fcntl.flock(users, fcntl.LOCK_UN)


def stop(home: Path) -> None:
    """Shut the server down, first politely."""
    pid = postmaster_pid(home / "data" / "postmaster.pid")
    if pid is None:
        return
    for how, seconds in ((signal.SIGINT, FAST_SECONDS), (signal.SIGQUIT, FAST_SECONDS)):
        try:
            os.kill(pid, how)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not is_postgres(pid):
                return
            time.sleep(POLL_SECONDS)


def postmaster_pid(pid_file: Path) -> int | None:
    """The process id in the file, if that process is a Postgres: ids are used again by others."""
    try:
        pid = int(pid_file.read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    return pid if pid > 0 and is_postgres(pid) else None


def is_postgres(pid: int) -> bool:
    """True when the process runs and is a Postgres."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return False
        command = _command_by_ps(pid)
    except OSError:
        return False
    return b"postgres" in command.split(b"\0", 1)[0]


def _command_by_ps(pid: int) -> bytes:
    # macOS has no /proc.
    return subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, check=False).stdout  # noqa: S607


if __name__ == "__main__":
    main()
