"""Lists the files of a tree that belong to a project."""

import os
from pathlib import Path

from app.workspaces.files.limits import DEFAULT_LIMITS, WorkspaceLimits
from app.workspaces.files.paths import is_excluded_directory, is_git_directory_name

_MOST_BYTES = 2_000_000


def small_file(path: Path) -> bytes:
    """Return the content of a file of up to 2 MB. A link and a file that cannot be read count as empty."""
    try:
        if path.is_symlink() or path.stat().st_size > _MOST_BYTES:
            return b""
        return path.read_bytes()
    except OSError:
        return b""


def tree_files(root: Path, limits: WorkspaceLimits = DEFAULT_LIMITS) -> list[str]:
    """Return files and links of a tree, including hidden ones, without caches, environments and git's own.

    Raises:
        WorkspaceError: the tree is larger than the limits allow.
    """
    found: list[str] = []
    size = 0
    waiting = [""]
    while waiting:
        place = waiting.pop()
        for entry in _entries(os.path.join(root, place)):
            name = f"{place}/{entry.name}" if place else entry.name
            if entry.is_dir(follow_symlinks=False):
                if not _is_left_out(entry.name):
                    waiting.append(name)
            elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
                found.append(name)
                size += entry.stat(follow_symlinks=False).st_size
                limits.check("the tree", len(found), size)
    return sorted(found)


def _entries(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return list(entries)
    except OSError:
        return []


def _is_left_out(name: str) -> bool:
    raw = os.fsencode(name)
    return is_excluded_directory(raw) or is_git_directory_name(raw)
