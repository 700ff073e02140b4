"""Shows what an agent has changed so far, while it works, without touching its tree or index."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio.to_thread

from app.core.errors import WorkspaceError
from app.schemas.workspaces import Diff
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.files.paths import is_excluded_directory
from app.workspaces.history.diffs import DiffLimits, read_diff
from app.workspaces.history.filling import filled_in, taken_back
from app.workspaces.history.git import Git, GitTarget
from app.workspaces.history.trees import index_of
from app.workspaces.history.withheld import corrections_for, differing

LOOK_LIMITS = DiffLimits(file_bytes=100_000, total_bytes=500_000)
"""Limits on the patches of unfinished work."""

_SUBMODULE = b"160000"


async def look_at(git: Git, git_dir: Path, tree: Path, start: str, limits: WorkspaceLimits) -> Diff:
    """Compare a tree in which an agent works with the commit from which it started.

    The agent may change its tree meanwhile. Git works on a copy of the index and writes new objects to a
    temporary directory. Submodules are removed from the copy: an agent could put a repository in their place,
    and git would run the programs in its configuration when asked for its state.

    Raises:
        WorkspaceError: the tree is gone, or larger than the limits allow.
    """
    if not await anyio.to_thread.run_sync(_fits, tree, limits):
        raise WorkspaceError("the workspace is gone, or too large to look at")
    scratch = await anyio.to_thread.run_sync(_place_beside, tree)
    with scratch as name:
        target = GitTarget(git_dir, tree, Path(name) / "index", Path(name) / "objects")
        await anyio.to_thread.run_sync(_prepare, tree, target)
        made = await _as_tree(git, target, tree, start)
        return await read_diff(git, target, start, made, [], LOOK_LIMITS)


async def _as_tree(git: Git, target: GitTarget, tree: Path, start: str) -> str:
    if target.index is None or not target.index.exists():
        await git.run(["read-tree", start], target)
    submodules = _removals(await git.run(["ls-files", "-s", "-z"], target))
    if submodules:
        await git.run(["update-index", "-z", "--index-info"], target, stdin=submodules)
    # Files come and go meanwhile, so unreadable ones are left out.
    await git.attempt(["add", "-A", "--ignore-errors"], target)
    compare = ["diff-index", "--cached", "--no-renames", "--no-abbrev", "-z", start]
    changes = differing(await git.run(compare, target))
    corrections, _ = await anyio.to_thread.run_sync(corrections_for, tree, changes)
    back = await _taken_back(git, target, tree)
    if corrections or back:
        await git.run(["update-index", "-z", "--index-info"], target, stdin=corrections + back)
    return (await git.run(["write-tree"], target)).decode().strip()


async def _taken_back(git: Git, target: GitTarget, tree: Path) -> bytes:
    if target.git_dir is None or not await anyio.to_thread.run_sync(filled_in, tree):
        return b""
    staged = (await git.run(["ls-files", "-z"], target)).split(b"\0")
    return (await taken_back(git, target.git_dir, tree, staged))[0]


def _removals(listing: bytes) -> bytes:
    """Read `ls-files -s -z`. Return the input that makes `update-index --index-info` drop the submodules."""
    entries = (each.split(b"\t", 1) for each in listing.split(b"\0") if each.startswith(_SUBMODULE))
    return b"".join(b"0 %s\t%s\0" % (b"0" * len(head.split()[1]), path) for head, path in entries)


def _place_beside(tree: Path) -> "TemporaryDirectory[str]":
    if not tree.is_dir():
        raise WorkspaceError("the workspace is gone")
    return TemporaryDirectory(prefix="look-", dir=tree.parent, ignore_cleanup_errors=True)


def _prepare(tree: Path, target: GitTarget) -> None:
    if target.objects is not None:
        target.objects.mkdir()
    with suppress(FileNotFoundError):
        shutil.copy2(index_of(tree), target.index or "")


def _fits(tree: Path, limits: WorkspaceLimits) -> bool:
    size = 0
    for files, each in enumerate(_sizes(os.fsencode(tree)), 1):
        size += each
        if not limits.holds(files, size):
            return False
    return True


def _sizes(root: bytes) -> Iterator[int]:
    """Yield the sizes of the files outside cache directories. Links are not followed."""
    directories = [root]
    while directories:
        try:
            with os.scandir(directories.pop()) as found:
                entries = list(found)
        except OSError:
            continue
        for entry in entries:
            with suppress(OSError):
                info = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(info.st_mode):
                    yield info.st_size
                elif stat.S_ISDIR(info.st_mode) and not is_excluded_directory(entry.name):
                    directories.append(entry.path)
