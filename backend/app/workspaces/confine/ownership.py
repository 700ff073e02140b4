"""Files and processes that must not outlive their process: owned by a lock that ends with it.

Each process works in its own directories, named by a random number, with a locked file in each; its
children carry the number in their environment. Who finds such a directory and can lock its file knows that
the owner is gone, and may remove what bears that number. Nothing else is ever touched.
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
    """What dead owners had left."""

    processes: int = 0
    directories: int = 0
    groups: int = 0

    def __bool__(self) -> bool:
        """True when there was anything."""
        return bool(self.processes or self.directories or self.groups)


@dataclass(frozen=True, slots=True)
class Places:
    """Where owned directories lie.

    Attributes:
        parents: directories that hold owners' directories; they may hold much else.
        groups: the directory of the sandbox's control groups, if there is one.
        remove_containers: removes the containers of one owner and returns their number, if there are any.
    """

    parents: tuple[Path, ...]
    groups: Path | None = None
    remove_containers: Callable[[str], Awaitable[int]] | None = None


@contextmanager
def own_directory(parent: Path, owner: str) -> Generator[Path]:
    """Yield a directory of this process below `parent`; it is locked until the end of the block."""
    place = parent / f"{_PREFIX}{owner}"
    place.mkdir(parents=True, mode=0o755)
    # Locked before it has its name: a process that finds the name finds the lock held.
    draft = place / f"{_LOCK}.new"
    with draft.open("xb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        draft.rename(place / _LOCK)
        yield place


@contextmanager
def owning(places: Places) -> Generator[list[Path]]:
    """Own a directory below each parent; children that are started in the block bear the owner's number.

    Temporary files of the whole process go into the last one. What is left in them then is removed by the
    next sweep of whichever process.
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
    processes, groups, directories = 0, 0, 0
    for parent in places.parents:
        for place, file in await anyio.to_thread.run_sync(lambda parent=parent: list(_dead(parent))):
            with file:
                owner = place.name.removeprefix(_PREFIX)
                processes += await anyio.to_thread.run_sync(_kill_children, owner)
                if places.remove_containers is not None:
                    processes += await places.remove_containers(owner)
                if places.groups is not None:
                    groups += await remove_groups_of(places.groups, owner)
                try:
                    await remove_tree(place)
                    directories += 1
                except WorkspaceError as error:
                    logger.warning("what a dead process left stays: %s", error)
    return Leftovers(processes, directories, groups)


@contextmanager
def _all_of(parents: tuple[Path, ...], owner: str) -> Generator[list[Path]]:
    if not parents:
        yield []
        return
    with own_directory(parents[0], owner) as first, _all_of(parents[1:], owner) as others:
        yield [first, *others]


def _dead(parent: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Return the directories whose owner is gone, each with its lock, which is now ours."""
    with suppress(OSError), os.scandir(parent) as entries:
        names = [each.name for each in entries if each.name.startswith(_PREFIX) and _is_ours(each)]
        for name in names:
            file = _lock_of(parent / name)
            if file is not None:
                yield parent / name, file


def _is_ours(entry: os.DirEntry[str]) -> bool:
    # A shared directory for temporary files holds other users' things, too.
    return entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.geteuid()


def _lock_of(place: Path) -> IO[bytes] | None:
    # Without a lock it is being made, or removed, or was never ours.
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


def _kill_children(owner: str) -> int:
    """Kill every process that bears the number (Linux); give how many there were."""
    mark = f"{OWNER_VARIABLE}={owner}".encode()
    killed = 0
    for number in _process_numbers():
        # By handle: another process may get the number between looking and killing.
        with suppress(OSError):
            handle = os.pidfd_open(number)
            try:
                if mark in (_PROC / str(number) / "environ").read_bytes().split(b"\0"):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                    killed += 1
            finally:
                os.close(handle)
    return killed


def _process_numbers() -> list[int]:
    if not hasattr(os, "pidfd_open"):
        return []
    return [int(each.name) for each in _PROC.iterdir() if each.name.isdigit()]
