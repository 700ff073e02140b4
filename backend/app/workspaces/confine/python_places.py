"""Finds the directories that a confined program needs to run a Python interpreter."""

import os
from collections.abc import Iterator
from pathlib import Path

from app.workspaces.confine.bubblewrap import visible_without_asking

_MAX_LINKS = 16


def interpreter_paths(python: Path) -> tuple[Path, ...]:
    """Return the directories that a confined program needs to run a Python interpreter, links followed.

    They are its environment (`pyvenv.cfg`, site-packages) and the installation that is based on.
    """
    return tuple(sorted(set(_interpreter_roots(python))))


def _interpreter_roots(python: Path) -> Iterator[Path]:
    # What the link points at may be a link again; each step must be there.
    place = python.absolute()
    for _ in range(_MAX_LINKS):
        root = _prefix(place)
        if root is not None and not visible_without_asking(root):
            yield root
        if not place.is_symlink():
            break
        place = place.parent / place.readlink()
    # A directory on the way may be a link, too.
    root = _prefix(python.resolve())
    if root is not None and not visible_without_asking(root):
        yield root


def _prefix(python: Path) -> Path | None:
    """The installation or environment that an interpreter's file belongs to: two levels up."""
    root = Path(os.path.normpath(python.parent.parent))
    return root if root != Path("/") else None
