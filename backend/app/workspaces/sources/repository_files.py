"""Checks the files of a repository before git opens them: some would block git, or make it read elsewhere."""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.core.errors import InvalidInputError, WorkspaceError

_PATH = "source.path"
_MAX_ENTRIES = 500_000
_MAX_ALTERNATES = 65_536


def check_repository_files(given: str, path: Path, allowed_roots: Sequence[Path]) -> None:
    """Refuse a repository with files that are pipes or devices, or lead out of the allowed directories.

    A named pipe in place of `HEAD` blocks every git command. A link or an entry in `objects/info/alternates`
    makes git read objects of a repository outside the allowed directories.

    Args:
        given: the path as the user wrote it, for messages.
        path: directory in the repository, resolved.
        allowed_roots: directories within which every file must be; empty allows any.

    Raises:
        InvalidInputError: a file leads out of the allowed directories.
        WorkspaceError: a file is not a regular one, or there are too many.
    """
    store = _store_above(given, path)
    if store is None:
        return  # git will report that this is no repository
    roots = [root.resolve() for root in allowed_roots]
    for entry in _entries(given, store):
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            place = Path(entry.path).resolve()
            _check_inside(given, place, roots)
            mode = place.stat().st_mode if place.exists() else stat.S_IFREG
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            name = Path(entry.path).relative_to(store)
            raise WorkspaceError(f"{given}: {name} in its git directory is not a file", field=_PATH)
    for place in _alternates(store / "objects"):
        _check_inside(given, place, roots)


def _store_above(given: str, path: Path) -> Path | None:
    for directory in (path, *path.parents):
        place = directory / ".git"
        if os.path.lexists(place):
            mode = place.stat().st_mode if place.exists() else stat.S_IFREG
            if stat.S_ISDIR(mode):
                return place.resolve()
            if stat.S_ISREG(mode):
                return _named_by(place)
            raise WorkspaceError(f"{given}: .git is neither a file nor a directory", field=_PATH)
        if (directory / "objects").is_dir() and os.path.lexists(directory / "HEAD"):
            return directory
    return None


def _named_by(file: Path) -> Path | None:
    """Return the git directory that a `.git` file names, as in linked working trees and submodules."""
    if not file.is_file():
        return None
    with file.open("rb") as handle:
        text = os.fsdecode(handle.read(4096))
    named = text.partition("gitdir:")[2].strip()
    found = (file.parent / named).resolve() if named else None
    return found if found is not None and found.is_dir() else None


def _entries(given: str, store: Path) -> Iterator[os.DirEntry[str]]:
    waiting, seen = [str(store)], 0
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                for entry in found:
                    seen += 1
                    if seen > _MAX_ENTRIES:
                        raise WorkspaceError(f"{given}: its git directory has too many files", field=_PATH)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    yield entry
        except (PermissionError, FileNotFoundError):
            continue


def _alternates(objects: Path) -> Iterator[Path]:
    file = objects / "info" / "alternates"
    if not file.is_file():
        return
    with file.open("rb") as handle:
        lines = handle.read(_MAX_ALTERNATES).splitlines()
    for line in lines:
        if line and not line.startswith(b"#"):
            yield (objects / os.fsdecode(line)).resolve()


def _check_inside(given: str, place: Path, roots: Sequence[Path]) -> None:
    if roots and not any(place.is_relative_to(root) for root in roots):
        raise InvalidInputError(
            f"{given}: its git directory leads out of the allowed directories (WORKSPACE_ROOTS)", field=_PATH
        )
