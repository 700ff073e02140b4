"""Notices that the program was changed on disk, as by an upgrade, while its old code is still in memory."""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]

Seen = Mapping[str, tuple[int, int, int] | None]
"""Files and directories, each with its inode, size in bytes and time of change; None if it was not there."""


def program_files() -> Seen:
    """Look at the whole program, the interpreter, and the directories in which packages are installed."""
    files = (str(each) for each in _PACKAGE.rglob("*.py"))
    return _look([*files, sys.executable, *filter(None, sys.path)])


def loaded_files() -> Seen:
    """Look at the file of every module that is loaded."""
    files = (getattr(each, "__file__", None) for each in list(sys.modules.values()))
    return _look(each for each in files if isinstance(each, str))


def is_changed(seen: Seen) -> bool:
    """Tell whether anything differs from what was seen."""
    return any(_state(path) != before for path, before in seen.items())


def _look(paths: Iterable[str]) -> Seen:
    return {path: _state(path) for path in paths}


def _state(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_ctime_ns
