"""Deletes trees that agents left, at any depth and with any modes, and never through links."""

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
    """Delete one of our directories with everything in it. A missing directory is no error.

    Raises:
        WorkspaceError: something in it belongs to another user, or is in use.
    """
    if await anyio.to_thread.run_sync(_delete_here, path):
        return
    name = [os.fsencode(path.name)]
    if await _each(("rm", "-rf"), path.parent, name):
        # Only directories without write permission stop `rm`. `chmod -R` does not follow links.
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
    """Delete an ordinary tree in this process, which is cheaper. Return False if that is not possible."""
    if not os.path.lexists(path):
        return True
    try:
        if not _is_usual(path):
            return False
        shutil.rmtree(path)  # this also walks by directory handles, one for each level
    except OSError:
        return False
    return True


def _is_usual(path: Path) -> bool:
    """Return True for a directory with few entries on few levels. Agents can create any other shape."""
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
    """Run `command` on the paths. Return its error output, which is empty if it succeeded.

    `rm` is used because it walks by directory handles, so no path is too long for it.
    """
    names = b"\0".join(b"./" + path for path in paths)
    if not names:
        return ""
    argv = ["xargs", "-0", *command, "--"]
    outcome = await run_for_bytes(argv, cwd=root, env=_ENV, timeout=_SECONDS, output_limit=0, stdin=names)
    if outcome.returncode == 0:
        return ""
    return outcome.stderr.strip() or f"exit status {outcome.returncode}"
