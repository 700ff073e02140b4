"""Searches a tree that an agent left for files that cannot become part of a commit."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from app.workspaces.files.paths import display_path, is_excluded_directory, is_git_directory_name, leaves_tree


class DropReason(StrEnum):
    """Why a path is left out."""

    NESTED_REPOSITORY = "nested_repository"
    ESCAPING_LINK = "escaping_link"
    SPECIAL_FILE = "special_file"
    UNREADABLE = "unreadable"
    REFUSED_NAME = "refused_name"
    SUBMODULE = "submodule"
    KEPT_IN_LFS = "kept_in_lfs"


@dataclass(frozen=True, slots=True)
class Dropped:
    """One path that is left out, in the form in which it may be shown."""

    path: str
    reason: DropReason


@dataclass(slots=True)
class Sweep:
    """The result of one search.

    Attributes:
        dropped: what must be removed before the tree is committed, by raw path.
        files: number of files outside cache directories.
        size: their total bytes.
    """

    dropped: dict[bytes, DropReason] = field(default_factory=dict[bytes, DropReason])
    files: int = 0
    size: int = 0

    def report(self) -> tuple[Dropped, ...]:
        """The paths that are left out, in the form in which they may be shown."""
        return tuple(Dropped(display_path(path), why) for path, why in sorted(self.dropped.items()))


def sweep(root: bytes) -> Sweep:
    """Search a tree without following links. Skip directories of caches and installed packages.

    Our own files that were made unreadable are made readable again, so an agent's `chmod 000` loses nothing.
    """
    found = Sweep()
    links: list[bytes] = []
    directories = [b""]
    while directories:
        directory = directories.pop()
        for entry in _entries(root, directory, found):
            path = os.path.join(directory, entry.name)
            if is_git_directory_name(entry.name):
                exact = entry.name.lower() == b".git"
                found.dropped[path] = DropReason.NESTED_REPOSITORY if exact else DropReason.REFUSED_NAME
            elif entry.is_symlink():
                links.append(path)
            elif not entry.is_dir(follow_symlinks=False):
                _look_at_file(entry, path, found)
            elif not is_excluded_directory(entry.name):
                directories.append(path)
    _look_at_links(root, links, found)
    return found


def _look_at_links(root: bytes, links: list[bytes], found: Sweep) -> None:
    found.files += len(links)
    # All links are judged before any is removed, because one may lead through another.
    for path in links:
        if os.path.basename(path).lower() == b".gitmodules":
            found.dropped[path] = DropReason.REFUSED_NAME
        elif leaves_tree(root, path):
            found.dropped[path] = DropReason.ESCAPING_LINK


def _entries(root: bytes, directory: bytes, found: Sweep) -> Iterator[os.DirEntry[bytes]]:
    place = os.path.join(root, directory)
    try:
        mode = os.lstat(place).st_mode
        if mode & stat.S_IRWXU != stat.S_IRWXU:
            os.chmod(place, stat.S_IMODE(mode) | stat.S_IRWXU)
        with os.scandir(place) as entries:
            yield from list(entries)
    except OSError:  # not ours, gone, or nested deeper than the longest possible path
        found.dropped[directory] = DropReason.UNREADABLE


def _look_at_file(entry: os.DirEntry[bytes], path: bytes, found: Sweep) -> None:
    try:
        info = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(info.st_mode):
            found.dropped[path] = DropReason.SPECIAL_FILE
            return
        if not info.st_mode & stat.S_IRUSR:
            os.chmod(entry.path, stat.S_IMODE(info.st_mode) | stat.S_IRUSR)
        if not os.access(entry.path, os.R_OK):
            found.dropped[path] = DropReason.UNREADABLE
            return
    except OSError:
        found.dropped[path] = DropReason.UNREADABLE
        return
    found.files += 1
    found.size += info.st_size
