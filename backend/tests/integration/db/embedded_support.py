"""Users of an embedded server as processes of their own, to be killed at will."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

import app
from app.db.embedded import reaper
from app.db.embedded.cluster import Cluster
from app.db.embedded.locks import is_taken
from app.db.embedded.server import Lease, acquire

# Nothing here has to survive a power cut; but commits have to survive a killed server.
FAST = ("fsync=off", "full_page_writes=off", "shared_buffers=16MB")
_PATIENCE_SECONDS = 300.0
_USER = f"""
import sys
from pathlib import Path
from app.db.embedded.server import acquire
lease = acquire(Path(sys.argv[1]), options={FAST!r})
print(lease.url, flush=True)
sys.stdin.read()
"""


@dataclass
class User:
    """A process that has, or waits for, a lease until its standard input is closed."""

    process: subprocess.Popen[str]

    def url(self) -> str:
        """The URL in its lease, once it has one."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextmanager
def user_of(data_dir: Path, env: Mapping[str, str] | None = None) -> Iterator[User]:
    """A user until the block is left."""
    environment = {**os.environ, "PYTHONPATH": str(Path(app.__file__).parents[1]), **(env or {})}
    command = [sys.executable, "-c", _USER, str(data_dir)]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield User(process)


@contextmanager
def leased(data_dir: Path) -> Iterator[Lease]:
    """A lease of this process until the block is left."""
    lease = acquire(data_dir, options=FAST)
    try:
        yield lease
    finally:
        lease.release()


def eventually(condition: Callable[[], bool], what: str) -> None:
    """Wait for what must happen, however slow the machine is."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.02)


def wait_until_stopped(home: Path) -> None:
    """Wait until no process of the server is left, and its reaper has gone too."""
    locks = [Cluster(home).lock(name) for name in ("server", "reaper")]
    eventually(lambda: not any(lock.exists() and is_taken(lock) for lock in locks), "the server's stop")


def is_stopped_cleanly(home: Path) -> bool:
    """True when the server has taken its file away, as it does after its last checkpoint."""
    return not Cluster(home).pid_file.exists()


def postmaster(home: Path) -> int:
    """The process id of the running server."""
    pid = reaper.postmaster_pid(home / "data")
    assert pid is not None
    return pid


def remember(url: str, word: str) -> None:
    """Write something that must not be lost."""
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS words (word text)")
        connection.execute("INSERT INTO words VALUES (%s)", [word])


def remembered(url: str) -> list[str]:
    """What has been written so far."""
    with psycopg.connect(url) as connection:
        return [str(word) for (word,) in connection.execute("SELECT word FROM words ORDER BY word")]
