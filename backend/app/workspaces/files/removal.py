"""Deletes what agents left: never through links, and whatever the depth or mode of directories."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import anyio.to_thread

from app.core.errors import WorkspaceError
from app.workspaces.process import run_for_bytes

_ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}
_SECONDS = 300.0
_USUAL_LEVELS, _USUAL_ENTRIES = 30, 2_000


async def remove_tree(path: Path) -> None:
    """Delete a directory of ours with all that is in it; nothing there is no error.

    Raises:
        WorkspaceError: something in it belongs to another user, or is in use.
    """
    if await anyio.to_thread.run_sync(_delete_here, path):
        return
    name = [os.fsencode(path.name)]
    if await _each(("rm", "-rf"), path.parent, name):
        # Only directories without write permission stop `rm`. `chmod -R` passes links by.
        await _each(("chmod", "-R", "u+rwX"), path.parent, name)
        await remove_paths(path.parent, name)


async def remove_paths(root: Path, paths: Iterable[bytes]) -> None:
    """Delete several paths, which are relative to `root`.

    Raises:
        WorkspaceError: something belongs to another user, or is in use.
    """
    complaint = await _each(("rm", "-rf"), root, paths)
    if complaint:
        raise WorkspaceError(f"cannot delete in {root}: {complaint[:300]}")


def _delete_here(path: Path) -> bool:
    """Delete a usual tree without starting programs, which costs more; False when that will not do."""
    if not os.path.lexists(path):
        return True
    try:
        if not _is_usual(path):
            return False
        shutil.rmtree(path)  # by directory handles as well, one for each level
    except OSError:
        return False
    return True


def _is_usual(path: Path) -> bool:
    """True for a directory of few entries on few levels: an agent chooses what the others look like."""
    entries = 0
    level = [os.fspath(path)]
    for _ in range(_USUAL_LEVELS):
        below: list[str] = []
        for directory in level:
            with os.scandir(directory) as found:
                for entry in found:
                    entries += 1
                    if entry.is_dir(follow_symlinks=False):
                        below.append(entry.path)
            if entries > _USUAL_ENTRIES:
                return False
        if not below:
            return True
        level = below
    return False


async def _each(command: tuple[str, ...], root: Path, paths: Iterable[bytes]) -> str:
    """Run `command` on the paths and give its complaint, empty when it succeeded.

    `rm` is used because it walks by directory handles: no path is too long for it.
    """
    names = b"\0".join(b"./" + path for path in paths)
    if not names:
        return ""
    argv = ["xargs", "-0", *command, "--"]
    outcome = await run_for_bytes(argv, cwd=root, env=_ENV, timeout=_SECONDS, output_limit=0, stdin=names)
    if outcome.returncode == 0:
        return ""
    return outcome.stderr.strip() or f"exit status {outcome.returncode}"
