"""Keeps what a set-up made beside a tree's own files, and lays it into copies of such trees."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from app.core.errors import WorkspaceError

_TREE, _HOME, _LIST = "tree", "home", "kept"


@dataclass(frozen=True, slots=True)
class Kept:
    """What a set-up made; nothing changes it.

    Attributes:
        place: where it stands.
        paths: what it added to the tree, relative to that: whole directories, or files.
    """

    place: Path
    paths: tuple[str, ...]

    @classmethod
    def at(cls, place: Path) -> "Kept":
        """Read what stands at a place."""
        return cls(place, tuple(filter(None, os.fsdecode((place / _LIST).read_bytes()).split("\0"))))

    def lay(self, copy: Path, home: Path) -> None:
        """Put all of it into a copy of a tree, in the place of what the copy has there.

        Args:
            copy: the tree; what is laid belongs to it alone.
            home: an empty directory that gets what the set-up left in its `HOME`.

        Raises:
            WorkspaceError: the copy has a link or a file where a directory must be.
            OSError: it cannot be copied.
        """
        for name in self.paths:
            _make_parents(copy, name)
            _remove(copy / name)
            _copy(self.place / _TREE / name, copy / name)
        shutil.copytree(self.place / _HOME, home, symlinks=True, dirs_exist_ok=True)


def copy_tree(tree: Path, copy: Path) -> None:
    """Copy a tree, links as links.

    Raises:
        OSError: it cannot be copied.
    """
    shutil.copytree(tree, copy, symlinks=True)


def keep_new(base: Path, site: Path) -> None:
    """Keep what the site's working copy has and the tree `base` does not, and the home; the rest goes away.

    Raises:
        OSError: something cannot be moved.
    """
    work = site / "work"
    found = _new_paths(base, work / _TREE)
    for name in found:
        target = site / _TREE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        os.rename(work / _TREE / name, target)
    (site / _TREE).mkdir(exist_ok=True)
    os.rename(work / "home", site / _HOME)
    (site / _LIST).write_bytes(b"\0".join(map(os.fsencode, found)))
    shutil.rmtree(work, ignore_errors=True)


def _new_paths(base: Path, tree: Path) -> list[str]:
    """Return what a tree has beyond the base: the topmost directories, and single files."""
    found: list[str] = []
    waiting = [""]
    while waiting:
        directory = waiting.pop()
        with os.scandir(tree / directory) as entries:
            for entry in entries:
                name = f"{directory}/{entry.name}" if directory else entry.name
                if not os.path.lexists(base / name):
                    found.append(name)
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append(name)
    return sorted(found)


def _make_parents(copy: Path, name: str) -> None:
    """Make the directories above a path; none of them may be a link, which could lead out of the copy."""
    path = copy
    for part in PurePosixPath(name).parts[:-1]:
        path /= part
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            raise WorkspaceError(
                f"{path.relative_to(copy)} must be a directory: the set-up puts {name} there"
            )
        path.mkdir(exist_ok=True)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target, follow_symlinks=False)
