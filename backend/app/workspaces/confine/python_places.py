"""Finds the directories that a confined program needs to run a Python interpreter."""

import os
from collections.abc import Iterator
from pathlib import Path

from app.workspaces.confine.bubblewrap import visible_without_asking

_MAX_LINKS = 16


def interpreter_paths(python: Path) -> tuple[Path, ...]:
    """Return the directories that a confined program needs to run a Python interpreter, links followed.

    They are its environment (`pyvenv.cfg`, site-packages) and the installation on which that is based.
    """
    return tuple(sorted(set(_interpreter_roots(python))))


def _interpreter_roots(python: Path) -> Iterator[Path]:
    # A link's target may be a link again, and each of them must be visible.
    place = python.absolute()
    for _ in range(_MAX_LINKS):
        root = _prefix(place)
        if root is not None and not visible_without_asking(root):
            yield root
        if not place.is_symlink():
            break
        place = place.parent / place.readlink()
    # A directory on the path may be a link, too.
    root = _prefix(python.resolve())
    if root is not None and not visible_without_asking(root):
        yield root


def _prefix(python: Path) -> Path | None:
    """Return the installation or environment of an interpreter's file: the directory two levels up."""
    root = Path(os.path.normpath(python.parent.parent))
    return root if root != Path("/") else None
