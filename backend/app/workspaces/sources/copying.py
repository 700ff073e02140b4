"""Copies a user's working tree as it is on the disk, so that tools can run on it without touching it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import anyio.to_thread

from app.core.errors import WorkspaceError
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.files.paths import is_excluded_directory, is_git_directory_name, leaves_tree
from app.workspaces.history.git import Git, GitTarget

_LISTING = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "."]


async def copy_working_tree(
    source: Path, dest: Path, git: Git, limits: WorkspaceLimits, *, submodules: bool = False
) -> None:
    """Copy a project's files: those that git tracks or would track, else all but caches and environments.

    Links that lead out of the tree, sockets and unreadable files are left out. The files of submodules are
    left out, too, unless `submodules` is True.

    Raises:
        WorkspaceError: the tree is larger than the limits, or cannot be copied.
    """
    listed = await _listed(os.fsencode(source), git, submodules=submodules)
    try:
        await anyio.to_thread.run_sync(_copy, os.fsencode(source), os.fsencode(dest), listed, limits)
    except OSError as error:
        raise WorkspaceError(f"{source} cannot be copied: {error}", field="path") from error


async def top_of_repository(path: Path, git: Git) -> Path | None:
    """Return the top directory of the repository that holds a directory, or None."""
    outcome = await git.attempt(["rev-parse", "--show-toplevel"], GitTarget(None), cwd=path)
    found = outcome.stdout.rstrip(b"\n")
    return Path(os.fsdecode(found)) if outcome.returncode == 0 and found else None


async def _listed(source: bytes, git: Git, *, submodules: bool) -> list[bytes] | None:
    """Return the paths that git tracks or would track, or None if git cannot list them."""
    outcome = await git.attempt(_LISTING, GitTarget(None), cwd=Path(os.fsdecode(source)))
    if outcome.returncode != 0 or outcome.truncated:
        return None
    found = outcome.stdout.split(b"\0")
    if not submodules:
        return found
    inside = await anyio.to_thread.run_sync(_submodules_among, source, found)
    for each in inside:
        below = await _listed(os.path.join(source, each), git, submodules=True)
        found += [each + b"/" + name for name in below or () if name]
    return found


def _submodules_among(source: bytes, names: list[bytes]) -> list[bytes]:
    """Return the submodules that are checked out.

    Git adds `/` to the name of any other repository in a tree.
    """
    return [
        each
        for each in names
        if each
        and not each.endswith(b"/")
        and not os.path.islink(os.path.join(source, each))
        and os.path.lexists(os.path.join(source, each, b".git"))
    ]


def _copy(source: bytes, dest: bytes, listed: list[bytes] | None, limits: WorkspaceLimits) -> None:
    os.makedirs(dest)
    files = size = 0
    for name in sorted(set(listed) - {b""}) if listed is not None else _walk(source):
        path = os.path.join(source, name)
        is_link = os.path.islink(path)
        if is_link and leaves_tree(source, name):
            continue
        if not is_link and not os.path.isfile(path):
            continue
        files += 1
        size += os.lstat(path).st_size
        limits.check("the directory", files, size, field="path")
        target = os.path.join(dest, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        try:
            shutil.copy(path, target, follow_symlinks=False)
        except PermissionError:
            continue


def _walk(root: bytes) -> Iterator[bytes]:
    for directory, names, files in os.walk(root):
        names[:] = [
            each for each in names if not is_excluded_directory(each) and not is_git_directory_name(each)
        ]
        links = [each for each in names if os.path.islink(os.path.join(directory, each))]
        for name in [*files, *links]:
            yield os.path.relpath(os.path.join(directory, name), root)
