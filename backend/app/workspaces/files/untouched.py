"""Tells by the times of its files whether a directory is in use."""

import os
import stat
from pathlib import Path


def is_untouched(directory: Path, since: float) -> bool:
    """Return True for a directory that was not modified since a time, nor anything in it.

    Links are not followed. What cannot be read counts as modified.

    Args:
        directory: its path.
        since: seconds since 1970.
    """
    try:
        found = directory.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_mtime >= since:
            return False
        for place, directories, files in os.walk(directory, onerror=_refuse):
            paths = (os.path.join(place, name) for name in (*directories, *files))
            if any(os.lstat(path).st_mtime >= since for path in paths):
                return False
    except OSError:
        return False
    return True


def _refuse(error: OSError) -> None:
    raise error
