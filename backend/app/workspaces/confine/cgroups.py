"""Creates a control group for each launch, if configured, to limit all its processes together."""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import anyio
import anyio.to_thread

from app.workspaces.owner_mark import owner_mark

_ENTER = 'echo 0 > "$1/cgroup.procs" && shift && exec "$@"'
_PREFIX = "launch-"
_REMOVAL_SECONDS = 5.0
_PAUSE_SECONDS = 0.005


class CgroupError(Exception):
    """The directory for control groups cannot be used. The message says why."""


@dataclass(frozen=True, slots=True)
class Cgroup:
    """The control group of one launch."""

    path: Path

    def command_line(self, argv: Sequence[str]) -> list[str]:
        """Return the command line that enters the group, then executes `argv`."""
        return ["/bin/sh", "-c", _ENTER, "sh", str(self.path), *argv]


@dataclass(frozen=True, slots=True)
class CgroupPlace:
    """A directory of a cgroup v2 hierarchy that was delegated to this service.

    Attributes:
        root: the directory; groups are created below it.
        memory_bytes: limit for all processes of a launch together.
        processes: limit on the processes and threads of a launch.
    """

    root: Path
    memory_bytes: int
    processes: int

    @asynccontextmanager
    async def group(self) -> AsyncGenerator[Cgroup]:
        """Create a group. At the end of the block, kill everything in it and remove it.

        Raises:
            CgroupError: it cannot be created.
        """
        group = Cgroup(self.root / f"{_PREFIX}{owner_mark()}-{uuid4().hex}")
        await anyio.to_thread.run_sync(self._make, group.path)
        try:
            yield group
        finally:
            with anyio.CancelScope(shield=True):
                await _remove(group.path)

    def missing_bounds(self) -> list[str]:
        """Return the names of the controllers that the hierarchy does not offer here."""
        try:
            offered = (self.root / "cgroup.subtree_control").read_text().split()
        except OSError:
            return ["memory", "pids"]
        return [name for name in ("memory", "pids") if name not in offered]

    def _make(self, path: Path) -> None:
        try:
            path.mkdir()
            if not (path / "cgroup.procs").exists():
                path.rmdir()
                raise CgroupError(f"SANDBOX_CGROUP: {self.root} is not in a cgroup v2 hierarchy")
            for name, value in (("memory.max", self.memory_bytes), ("pids.max", self.processes)):
                if (path / name).exists():
                    (path / name).write_text(str(value))
        except OSError as error:
            raise CgroupError(f"SANDBOX_CGROUP: {self.root}: {error.strerror}") from error


async def remove_groups_of(root: Path, owner: str) -> int:
    """Kill and remove the control groups of a process that has ended. Return their number."""
    groups = await anyio.to_thread.run_sync(lambda: list(root.glob(f"{_PREFIX}{owner}-*")))
    for group in groups:
        await _remove(group)
    return len(groups)


async def _remove(path: Path) -> None:
    with suppress(OSError):
        await anyio.to_thread.run_sync(_kill, path)
    with anyio.move_on_after(_REMOVAL_SECONDS):
        # A killed process stays in the group for a moment, and the kernel does not report when it leaves.
        while not await anyio.to_thread.run_sync(_removed, path):  # noqa: ASYNC110
            await asyncio.sleep(_PAUSE_SECONDS)


def _kill(path: Path) -> None:
    # O_CREAT is not set, because old kernels do not have this file.
    handle = os.open(path / "cgroup.kill", os.O_WRONLY)
    try:
        os.write(handle, b"1")
    finally:
        os.close(handle)


def _removed(path: Path) -> bool:
    try:
        path.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
