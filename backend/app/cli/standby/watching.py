"""Detects that the program changed on disk, as in an upgrade, while its old code is still in memory."""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]

Seen = Mapping[str, tuple[int, int, int] | None]
"""Files and directories, each with its inode, size in bytes and time of change; None if it did not exist."""


def program_files() -> Seen:
    """Return the state of the whole program, the interpreter, and the directories of installed packages."""
    files = (str(each) for each in _PACKAGE.rglob("*.py"))
    return _look([*files, sys.executable, *filter(None, sys.path)])


def loaded_files() -> Seen:
    """Return the state of the file of every loaded module."""
    files = (getattr(each, "__file__", None) for each in list(sys.modules.values()))
    return _look(each for each in files if isinstance(each, str))


def is_changed(seen: Seen) -> bool:
    """Return True if anything differs from the earlier state."""
    return any(_state(path) != before for path, before in seen.items())


def _look(paths: Iterable[str]) -> Seen:
    return {path: _state(path) for path in paths}


def _state(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_ctime_ns
