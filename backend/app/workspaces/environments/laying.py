"""Stores the files that a set-up created in a tree, and copies them into other copies of that tree."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from app.core.errors import WorkspaceError
from app.workspaces.files.paths import leaves_tree

_TREE, _HOME, _LIST = "tree", "home", "kept"


@dataclass(frozen=True, slots=True)
class Kept:
    """The files that a set-up created. Nothing changes them.

    Attributes:
        place: the directory that stores them.
        paths: what the set-up added to the tree: whole directories or single files, relative to the tree.
    """

    place: Path
    paths: tuple[str, ...]

    @classmethod
    def at(cls, place: Path) -> "Kept":
        """Read the files stored in a directory."""
        return cls(place, tuple(filter(None, os.fsdecode((place / _LIST).read_bytes()).split("\0"))))

    def lay(self, copy: Path, home: Path) -> None:
        """Copy the files into a copy of a tree. They replace what the copy has at their paths.

        Args:
            copy: the copy of the tree, which shares no file with others.
            home: an empty directory that gets the set-up's `HOME`.

        Raises:
            WorkspaceError: the copy has a link or a file where a directory must be.
            OSError: the files cannot be copied.
        """
        for name in self.paths:
            _make_parents(copy, name)
            _remove(copy / name)
            _copy(self.place / _TREE / name, copy / name)
        shutil.copytree(self.place / _HOME, home, symlinks=True, dirs_exist_ok=True)


def copy_tree(tree: Path, copy: Path) -> None:
    """Copy a tree. Links are copied as links.

    Raises:
        OSError: it cannot be copied.
    """
    shutil.copytree(tree, copy, symlinks=True)


def keep_new(base: Path, site: Path) -> None:
    """Keep the home and the files that the site's working copy has and the tree `base` does not.

    Delete the rest, and links that lead out of the tree. Those to files stay, because environments of Python
    have one to their interpreter.

    Raises:
        OSError: something cannot be moved.
    """
    work = site / "work"
    found = _without_ways_out(work / _TREE, _new_paths(base, work / _TREE))
    for name in found:
        target = site / _TREE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        os.rename(work / _TREE / name, target)
    (site / _TREE).mkdir(exist_ok=True)
    os.rename(work / "home", site / _HOME)
    (site / _LIST).write_bytes(b"\0".join(map(os.fsencode, found)))
    shutil.rmtree(work, ignore_errors=True)


def _new_paths(base: Path, tree: Path) -> list[str]:
    """Return the paths that a tree has beyond the base: topmost directories, and single files."""
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


def _without_ways_out(tree: Path, names: list[str]) -> list[str]:
    """Remove the links below some paths that lead out of the tree. Return the paths that still exist."""
    for name in names:
        for link in list(_links(tree / name)):
            inside = link.relative_to(tree)
            if leaves_tree(os.fsencode(tree), os.fsencode(inside)) and not os.path.isfile(link):
                link.unlink()
    return [name for name in names if os.path.lexists(tree / name)]


def _links(path: Path) -> Iterator[Path]:
    if path.is_symlink():
        yield path
        return
    for directory, below, files in os.walk(path):
        yield from (each for name in (*below, *files) if (each := Path(directory, name)).is_symlink())


def _make_parents(copy: Path, name: str) -> None:
    """Create the directories above a path. None of them may be a link, which could lead out of the copy."""
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
