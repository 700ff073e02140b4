"""Working trees without `.git`: checks them out of a run's repository, and commits them to it."""

import os
import stat
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio.to_thread

from app.core.errors import WorkspaceError
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.files.paths import display_path
from app.workspaces.files.removal import remove_paths
from app.workspaces.files.sweep import Dropped, Sweep, sweep
from app.workspaces.history.filling import fill, taken_back
from app.workspaces.history.git import Git, GitTarget
from app.workspaces.history.withheld import (
    TreeEntry,
    corrections_for,
    differing,
    may_need_withholding,
    special_entries,
    withhold,
)
from app.workspaces.together import together

_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
# A commit without a parent gets a fixed date, so that the same files give the same commit.
_FIXED_DATE = {"GIT_AUTHOR_DATE": "946684800 +0000", "GIT_COMMITTER_DATE": "946684800 +0000"}


@dataclass(frozen=True, slots=True)
class Checkout:
    """A tree that was written. The entries in `withheld` are in the commit but not on the disk."""

    path: Path
    withheld: tuple[Dropped, ...]


@dataclass(frozen=True, slots=True)
class CommitOutcome:
    """A commit that was created.

    Attributes:
        commit: its id.
        tree: id of its tree; equal ids mean equal files.
        changed_files: paths that differ from the parent, in the form in which they may be shown.
        dropped: what was left out, and why.
    """

    commit: str
    tree: str
    changed_files: tuple[str, ...]
    dropped: tuple[Dropped, ...]

    @property
    def changed(self) -> bool:
        """False if the files equal those of the parent."""
        return bool(self.changed_files)


class TreeWork:
    """Checks trees out and commits them.

    Beside each tree is its git index, `NAME.index`, so that only changed files are read again. If entries of
    the commit could not be written to the disk, `NAME.withheld` lists them. If files to which the commit only
    refers were written, `NAME.filled` and `NAME.filling` exist, too.
    """

    def __init__(self, git: Git, git_dir: Path, limits: WorkspaceLimits) -> None:
        self._git = git
        self._git_dir = git_dir
        self._limits = limits

    async def checkout(self, commit: str, dest: Path, filling: str = "") -> Checkout:
        """Write a commit's files to `dest`, which must not exist, and those of its filling."""
        await anyio.to_thread.run_sync(partial(_make_room, dest))
        target = self._target(dest)
        await self._git.run(["read-tree", "-u", "--reset", commit], target)
        if not filling and not await anyio.to_thread.run_sync(may_need_withholding, os.fsencode(dest)):
            return Checkout(dest, ())
        listing = await self._git.run(["ls-tree", "-r", "-z", commit], GitTarget(self._git_dir))
        special = special_entries(listing)
        filled = await fill(self._git, self._git_dir, filling, listing, dest) if filling else []
        return Checkout(dest, await anyio.to_thread.run_sync(withhold, dest, special, filled))

    async def commit(self, tree: Path, parent: str | None, message: str) -> CommitOutcome:
        """Commit the content of `tree`."""
        if not await anyio.to_thread.run_sync(_is_directory, tree):
            raise WorkspaceError(f"the working tree {tree} is gone")
        target = self._target(tree)
        if parent is not None and not index_of(tree).exists():
            await self._git.run(["read-tree", parent], target)
        found = await anyio.to_thread.run_sync(sweep, os.fsencode(tree))
        await remove_paths(tree, found.dropped)
        await self._check_size(found, target)
        tree_id, changes = await self._stage(target, parent)
        corrections, submodules = await anyio.to_thread.run_sync(corrections_for, tree, changes)
        back, changed = await taken_back(self._git, self._git_dir, tree)
        if corrections or back:
            lines = corrections + back
            await self._git.run(["update-index", "-z", "--index-info"], target, stdin=lines)
            tree_id, changes = await self._write(target, parent)
        parents = ["-p", parent] if parent is not None else []
        made = await self._git.run(
            ["commit-tree", tree_id, *parents],
            GitTarget(self._git_dir),
            stdin=message.replace("\0", " ").encode("utf-8", "replace"),
            env=_FIXED_DATE if parent is None else None,
        )
        return CommitOutcome(
            commit=made.decode().strip(),
            tree=tree_id,
            changed_files=tuple(display_path(entry.path) for entry in changes),
            dropped=found.report() + submodules + changed,
        )

    async def _stage(self, target: GitTarget, parent: str | None) -> tuple[str, list[TreeEntry]]:
        await self._git.run(["add", "-A"], target)
        return await self._write(target, parent)

    async def _write(self, target: GitTarget, parent: str | None) -> tuple[str, list[TreeEntry]]:
        """Write the index as a tree. Return its id and the differences from the parent."""
        compare = ["diff-index", "--cached", "--no-renames", "--no-abbrev", "-z", parent or _EMPTY_TREE]
        tree_id, raw = await together(self._git.run(["write-tree"], target), self._git.run(compare, target))
        return tree_id.decode().strip(), differing(raw)

    async def _check_size(self, found: Sweep, target: GitTarget) -> None:
        if self._limits.holds(found.files, found.size):
            return
        # The quick count includes ignored files, and only git knows which files are ignored.
        command = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listing = await self._git.run(command, target)
        root = target.work_tree
        assert root is not None  # noqa: S101 - set by `_target`
        files, size = await anyio.to_thread.run_sync(_measure, root, set(listing.split(b"\0")) - {b""})
        self._limits.check("the working tree", files, size)

    def _target(self, tree: Path) -> GitTarget:
        return GitTarget(self._git_dir, tree, index_of(tree))


def index_of(tree: Path) -> Path:
    """Return the path of a tree's index: beside the tree, never inside."""
    return tree.with_name(f"{tree.name}.index")


def _is_directory(tree: Path) -> bool:
    return tree.is_dir() and not tree.is_symlink()


def _make_room(dest: Path) -> None:
    dest.parent.mkdir(parents=True, exist_ok=True)
    dest.mkdir()
    index_of(dest).unlink(missing_ok=True)


def _measure(root: Path, paths: Collection[bytes]) -> tuple[int, int]:
    files, size = 0, 0
    base = os.fsencode(root)
    for path in paths:
        try:
            info = os.lstat(os.path.join(base, path))
        except OSError:  # the agent deleted it
            continue
        files += 1
        size += info.st_size if stat.S_ISREG(info.st_mode) else 0
    return files, size
