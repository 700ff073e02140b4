"""Removes files and processes that outlive their owner, a process that holds a lock as long as it lives.

Each process works in its own directories. Their names contain a random number, and each holds a locked file.
The process's children have the number in their environment. If another process can lock such a file, the
owner is gone, and everything with that number may be removed. Nothing else is ever touched.
"""

import fcntl
import logging
import os
import signal
import tempfile
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import uuid4

import anyio.to_thread

from app.core.errors import WorkspaceError
from app.workspaces.confine.cgroups import remove_groups_of
from app.workspaces.files.removal import remove_tree
from app.workspaces.owner_mark import OWNER_VARIABLE, mark_children

logger = logging.getLogger(__name__)

_PREFIX = "phaserunner-owned-"
_LOCK = "owner.lock"
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Counts of what dead owners had left."""

    processes: int = 0
    directories: int = 0
    groups: int = 0

    def __bool__(self) -> bool:
        """Return True if there was anything."""
        return bool(self.processes or self.directories or self.groups)


@dataclass(frozen=True, slots=True)
class Places:
    """Where owned directories are.

    Attributes:
        parents: directories that hold owners' directories, among other things.
        groups: the directory of the sandbox's control groups, if there is one.
        remove_containers: removes the containers of one owner and returns their number, if containers are
            used.
    """

    parents: tuple[Path, ...]
    groups: Path | None = None
    remove_containers: Callable[[str], Awaitable[int]] | None = None


@contextmanager
def own_directory(parent: Path, owner: str) -> Generator[Path]:
    """Yield a directory of this process below `parent`, locked until the end of the block."""
    place = parent / f"{_PREFIX}{owner}"
    place.mkdir(parents=True, mode=0o755)
    # The file is locked before it gets its name, so a process that finds the name also finds the lock.
    draft = place / f"{_LOCK}.new"
    with draft.open("xb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        draft.rename(place / _LOCK)
        yield place


@contextmanager
def owning(places: Places) -> Generator[list[Path]]:
    """Own a directory below each parent. Children started in the block get the owner's number.

    Temporary files of the whole process go into the last directory. Any process's next sweep removes what is
    left in the directories.
    """
    owner = uuid4().hex
    usual = tempfile.tempdir
    with _all_of(places.parents, owner) as directories:
        tempfile.tempdir = str(directories[-1])
        mark_children(owner)
        try:
            yield directories
        finally:
            tempfile.tempdir = usual
            mark_children(None)


async def remove_leftovers(places: Places) -> Leftovers:
    """Remove what dead owners left: first their processes, then their control groups and directories."""
    # An owner has a directory in each place, and a killed process may be seen again while it ends.
    killed = set[int]()
    containers, groups, directories = 0, 0, 0
    for parent in places.parents:
        for place, file in await anyio.to_thread.run_sync(lambda parent=parent: list(_dead(parent))):
            with file:
                owner = place.name.removeprefix(_PREFIX)
                killed |= await anyio.to_thread.run_sync(_kill_children, owner)
                if places.remove_containers is not None:
                    containers += await places.remove_containers(owner)
                if places.groups is not None:
                    groups += await remove_groups_of(places.groups, owner)
                try:
                    await remove_tree(place)
                    directories += 1
                except WorkspaceError as error:
                    logger.warning("cannot remove what a dead process left: %s", error)
    return Leftovers(len(killed) + containers, directories, groups)


@contextmanager
def _all_of(parents: tuple[Path, ...], owner: str) -> Generator[list[Path]]:
    if not parents:
        yield []
        return
    with own_directory(parents[0], owner) as first, _all_of(parents[1:], owner) as others:
        yield [first, *others]


def _dead(parent: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Yield the directories whose owner is gone, each with its lock, which this process now holds."""
    with suppress(OSError), os.scandir(parent) as entries:
        names = [each.name for each in entries if each.name.startswith(_PREFIX) and _is_ours(each)]
        for name in names:
            file = _lock_of(parent / name)
            if file is not None:
                yield parent / name, file


def _is_ours(entry: os.DirEntry[str]) -> bool:
    # A shared directory for temporary files holds other users' files, too.
    return entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.geteuid()


def _lock_of(place: Path) -> IO[bytes] | None:
    # A directory without a lock is being created or removed, or is not ours.
    try:
        descriptor = os.open(place / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    file = os.fdopen(descriptor, "r+b", buffering=0)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def _kill_children(owner: str) -> set[int]:
    """Kill every process with the owner's number (Linux). Return their process ids."""
    mark = f"{OWNER_VARIABLE}={owner}".encode()
    killed = set[int]()
    for number in _process_numbers():
        # A handle is safe: the number could go to another process between the check and the kill.
        with suppress(OSError):
            handle = os.pidfd_open(number)
            try:
                if mark in (_PROC / str(number) / "environ").read_bytes().split(b"\0"):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                    killed.add(number)
            finally:
                os.close(handle)
    return killed


def _process_numbers() -> list[int]:
    if not hasattr(os, "pidfd_open"):
        return []
    return [int(each.name) for each in _PROC.iterdir() if each.name.isdigit()]
