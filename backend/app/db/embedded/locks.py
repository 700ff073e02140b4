"""File locks that are released when the last process that holds them ends, for whatever reason."""

import fcntl
import os
import time
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from app.core.errors import DatabaseSetupError

_POLL_SECONDS = 0.02


def take_lock(path: Path, *, shared: bool = False, seconds: float) -> IO[bytes]:
    """Wait for a lock; it is held until the returned file is closed, also by processes that inherit it.

    Raises:
        DatabaseSetupError: another process held the lock all the time.
        OSError: the file cannot be opened.
    """
    file = _open(path)
    deadline = time.monotonic() + seconds
    with ExitStack() as undo:
        undo.callback(file.close)
        while not _try(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                raise DatabaseSetupError(
                    f"another process has held {path} for {seconds:g} seconds. Look for one that is stopped "
                    f"or hangs (`fuser '{path}'`), end it and try again"
                )
            time.sleep(_POLL_SECONDS)
        undo.pop_all()
    return file


def is_taken(path: Path) -> bool:
    """Return whether a process holds the lock exclusively.

    Raises:
        OSError: the file cannot be opened.
    """
    with _open(path) as file:
        return not _try(file, fcntl.LOCK_SH)


def _open(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b", buffering=0)


def _try(file: IO[bytes], how: int) -> bool:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
