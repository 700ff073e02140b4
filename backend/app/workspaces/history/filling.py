"""Files to which a commit only refers: those of submodules, and those stored in git LFS.

A run's repository holds them as one commit without a parent, called a filling. Its tree has these files at
the paths of the submodules and pointers in the run's commits. A checkout writes them to the working tree.
Committing the tree replaces them with the submodules and pointers of the parent. Changes to them are reported
and left out.
"""

import json
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import anyio.to_thread

from app.workspaces.files.paths import display_path, leaves_tree
from app.workspaces.files.sweep import Dropped, DropReason
from app.workspaces.history.git import Git, GitTarget
from app.workspaces.history.withheld import TreeEntry, entries_of, read_index_lines

_LINK = b"120000"
_SUBMODULE = b"160000"
_FIXED_DATE = {"GIT_AUTHOR_DATE": "946684800 +0000", "GIT_COMMITTER_DATE": "946684800 +0000"}


@dataclass(frozen=True, slots=True)
class Filler:
    """The replacement for an entry.

    Attributes:
        entry: a submodule, or a file that is a pointer.
        object_id: id of a tree for a submodule, of a blob for a pointer.
        inside: further submodules below this one.
    """

    entry: TreeEntry
    object_id: str
    inside: tuple["Filler", ...] = ()


async def make_filling(git: Git, git_dir: Path, fillers: Sequence[Filler], index: Path) -> str:
    """Create the commit that holds the files of all fillers. The same files give the same commit.

    Args:
        git: the git program.
        git_dir: a repository with all their objects.
        fillers: the replacements.
        index: path for git's index, in a directory that is removed afterwards.
    """
    target = GitTarget(git_dir, index=index)
    files = [file for each in fillers for file in await _files_of(git, target, each)]
    lines = b"".join(each.index_line() for each in files)
    await git.run(["update-index", "-z", "--index-info"], target, stdin=lines)
    tree = (await git.run(["write-tree"], target)).decode().strip()
    named = [
        [each.entry.mode.decode(), each.entry.object_id.decode(), os.fsdecode(each.entry.path)]
        for each in fillers
    ]
    command = ["commit-tree", tree]
    made = await git.run(command, target, stdin=json.dumps(named).encode(), env=_FIXED_DATE)
    return made.decode().strip()


async def _files_of(git: Git, target: GitTarget, filler: Filler) -> list[TreeEntry]:
    """Return the files of a filler with their full paths. Submodules that are not fetched stay entries."""
    entry = filler.entry
    if entry.mode != _SUBMODULE:
        return [TreeEntry(entry.mode, filler.object_id.encode(), entry.path)]
    listing = entries_of(await git.run(["ls-tree", "-r", "-z", filler.object_id], target))
    found = [replace(each, path=entry.path + b"/" + each.path) for each in listing]
    below = {each.entry.path for each in filler.inside}
    files = [each for each in found if each.path not in below]
    for each in filler.inside:
        files += await _files_of(git, target, each)
    return files


async def named_by(git: Git, git_dir: Path, filling: str) -> list[TreeEntry]:
    """Return the entries that a filling replaces with files."""
    content = await git.run(["cat-file", "commit", filling], GitTarget(git_dir))
    named = cast("list[list[str]]", json.loads(content.partition(b"\n\n")[2]))
    return [TreeEntry(mode.encode(), each.encode(), os.fsencode(path)) for mode, each, path in named]


async def fill(git: Git, git_dir: Path, filling: str, listing: bytes, tree: Path) -> list[TreeEntry]:
    """Write files of a filling into a fresh tree, where its commit has the entries that they replace.

    Args:
        git: the git program.
        git_dir: the repository, which has the filling.
        filling: id of its commit.
        listing: the output of `ls-tree -r -z` for the tree's commit.
        tree: the working tree.

    Returns:
        The entries that were replaced with files.
    """
    there = set(entries_of(listing))
    named = [each for each in await named_by(git, git_dir, filling) if each in there]
    if not named:
        return []
    content = entries_of(await git.run(["ls-tree", "-r", "-z", filling], GitTarget(git_dir)))
    files = [each for each in content if each.mode != _SUBMODULE and is_below(each.path, named)]
    place = GitTarget(git_dir, tree, _index_of(tree))
    lines = b"".join(each.index_line() for each in files)
    await git.run(["read-tree", "--empty"], place)
    await git.run(["update-index", "-z", "--index-info"], place, stdin=lines)
    names = b"".join(each.path + b"\0" for each in files)
    await git.run(["checkout-index", "-f", "-u", "-q", "-z", "--stdin"], place, stdin=names)
    leaving = await anyio.to_thread.run_sync(_remove_leaving, tree, files)
    await git.run(["update-index", "-z", "--index-info"], place, stdin=leaving)
    lines = b"".join(each.index_line() for each in named)
    await anyio.to_thread.run_sync(_list_of(tree).write_bytes, lines)
    return named


async def taken_back(
    git: Git, git_dir: Path, tree: Path, staged: Iterable[bytes] = ()
) -> tuple[bytes, tuple[Dropped, ...]]:
    """Find the corrections that the index of a filled tree needs before a commit.

    Args:
        git: the git program.
        git_dir: the repository.
        tree: the working tree.
        staged: paths in the index; those below a submodule are removed from it.

    Returns:
        Input for `update-index --index-info`, and the changes that are left out.
    """
    named = await anyio.to_thread.run_sync(filled_in, tree)
    if not named:
        return b"", ()
    place = GitTarget(git_dir, tree, _index_of(tree))
    await git.attempt(["update-index", "-q", "--refresh"], place)
    changed = set((await git.run(["diff-files", "-z", "--name-only"], place)).split(b"\0")) - {b""}
    submodules = [each for each in named if each.mode == _SUBMODULE]
    if submodules:
        paths = [os.fsdecode(each.path) for each in submodules]
        command = ["ls-files", "-z", "--others", "--exclude-standard", "--", *paths]
        changed |= set((await git.run(command, place)).split(b"\0")) - {b""}
    back = await anyio.to_thread.run_sync(_that_are_there, tree, named)
    lines = [each.removal_line() for each in _staged_below(submodules, staged)]
    lines += [each.index_line() for each in back]
    return b"".join(lines), _report(back, changed)


def filled_in(tree: Path) -> list[TreeEntry]:
    """Return the entries of a tree that were replaced with files."""
    file = _list_of(tree)
    return list(read_index_lines(file.read_bytes())) if file.exists() else []


def is_below(path: bytes, entries: Collection[TreeEntry]) -> bool:
    """Return True if a path is one of the entries, or below one."""
    return any(path == each.path or path.startswith(each.path + b"/") for each in entries)


def _staged_below(submodules: Sequence[TreeEntry], staged: Iterable[bytes]) -> list[TreeEntry]:
    length = len(submodules[0].object_id) if submodules else 0
    below = [path for path in staged if any(path.startswith(each.path + b"/") for each in submodules)]
    return [TreeEntry(b"0", b"0" * length, path) for path in below]


def _that_are_there(tree: Path, named: Sequence[TreeEntry]) -> list[TreeEntry]:
    """Return the submodules, and the pointers with files that were not removed."""
    root = os.fsencode(tree)
    return [
        each for each in named if each.mode == _SUBMODULE or os.path.isfile(os.path.join(root, each.path))
    ]


def _report(back: Sequence[TreeEntry], changed: Collection[bytes]) -> tuple[Dropped, ...]:
    found: list[Dropped] = []
    for entry in back:
        if any(path == entry.path or path.startswith(entry.path + b"/") for path in changed):
            why = DropReason.SUBMODULE if entry.mode == _SUBMODULE else DropReason.KEPT_IN_LFS
            found.append(Dropped(display_path(entry.path), why))
    return tuple(found)


def _remove_leaving(tree: Path, files: Sequence[TreeEntry]) -> bytes:
    """Remove links that lead out of a tree. Return the lines that remove them from an index."""
    root = os.fsencode(tree)
    leaving = [each for each in files if each.mode == _LINK and leaves_tree(root, each.path)]
    for each in leaving:
        os.unlink(os.path.join(root, each.path))
    return b"".join(each.removal_line() for each in leaving)


def _index_of(tree: Path) -> Path:
    return tree.with_name(f"{tree.name}.filling")


def _list_of(tree: Path) -> Path:
    return tree.with_name(f"{tree.name}.filled")
