"""Entries of a commit that cannot be on the disk: links that lead out, and submodules.

They must not look deleted when the tree is committed. So a list of them is kept beside the tree, in the form
in which git's index reads them back.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.workspaces.files.paths import display_path, leaves_tree
from app.workspaces.files.sweep import Dropped, DropReason

_LINK = b"120000"
_SUBMODULE = b"160000"
_ABSENT = b"000000"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One path in a commit. In a difference it is the new side, with mode `000000` if the path is gone."""

    mode: bytes
    object_id: bytes
    path: bytes

    def index_line(self) -> bytes:
        """Return the entry in the form that `update-index --index-info` reads."""
        return self.mode + b" " + self.object_id + b"\t" + self.path + b"\0"

    def removal_line(self) -> bytes:
        """Return the line that removes the path from the index."""
        return b"0 " + b"0" * len(self.object_id) + b"\t" + self.path + b"\0"


def may_need_withholding(root: bytes) -> bool:
    """Return False quickly if a fresh tree has no link or submodule, as most have none."""
    if os.path.lexists(os.path.join(root, b".gitmodules")):
        return True
    directories = [root]
    while directories:
        with os.scandir(directories.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    return True
                if entry.is_dir():
                    directories.append(entry.path)
    return False


def entries_of(listing: bytes) -> list[TreeEntry]:
    """Parse the output of `ls-tree -r -z`."""
    entries: list[TreeEntry] = []
    for line in listing.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, _, object_id = about.split(b" ")[:3]
        entries.append(TreeEntry(mode, object_id, path))
    return entries


def special_entries(listing: bytes) -> list[TreeEntry]:
    """Return the links and submodules in the output of `ls-tree -r -z`."""
    return [each for each in entries_of(listing) if each.mode in (_LINK, _SUBMODULE)]


def differing(raw: bytes) -> list[TreeEntry]:
    """Parse the output of `diff-index -z --no-renames`."""
    fields = raw.split(b"\0")
    entries: list[TreeEntry] = []
    for about, path in zip(fields[0::2], fields[1::2], strict=False):
        _, new_mode, _, new_id, _ = about.split(b" ")
        entries.append(TreeEntry(new_mode, new_id, path))
    return entries


def withhold(
    tree: Path, special: Sequence[TreeEntry], filled: Sequence[TreeEntry] = ()
) -> tuple[Dropped, ...]:
    """Remove links that lead out of a fresh tree, and record the entries that are not on the disk.

    The submodules in `filled` have their files in place, so they are not withheld.
    """
    root = os.fsencode(tree)
    # All links are judged before any is removed, because one may lead through another.
    leaving = [entry for entry in special if entry.mode == _LINK and leaves_tree(root, entry.path)]
    for entry in leaving:
        os.unlink(os.path.join(root, entry.path))
    submodules = [entry for entry in special if entry.mode == _SUBMODULE and entry not in filled]
    if leaving or submodules:
        _list_of(tree).write_bytes(b"".join(entry.index_line() for entry in (*leaving, *submodules)))
    return (
        *_report(leaving, DropReason.ESCAPING_LINK),
        *_report(submodules, DropReason.SUBMODULE),
    )


def corrections_for(tree: Path, changes: Sequence[TreeEntry]) -> tuple[bytes, tuple[Dropped, ...]]:
    """Find the corrections that an index of the whole tree needs.

    Args:
        tree: the working tree.
        changes: how the index differs from the parent commit.

    Returns:
        Input for `update-index --index-info`, empty if nothing is wrong, and the entries that are left out.
    """
    root = os.fsencode(tree)
    links = [entry for entry in changes if entry.mode == _LINK and leaves_tree(root, entry.path)]
    repositories = [entry for entry in changes if entry.mode == _SUBMODULE]
    gone = {entry.path for entry in changes if entry.mode == _ABSENT}
    kept, filled = _look_at_withheld(tree, root, gone)
    lines = [entry.removal_line() for entry in (*links, *repositories)]
    lines += [entry.index_line() for entry in kept]
    return b"".join(lines), (
        *_report(links, DropReason.ESCAPING_LINK),
        *_report(repositories, DropReason.NESTED_REPOSITORY),
        *_report(filled, DropReason.SUBMODULE),
    )


def _look_at_withheld(tree: Path, root: bytes, gone: set[bytes]) -> tuple[list[TreeEntry], list[TreeEntry]]:
    """Return links to put back, and submodules with files that cannot be committed."""
    if not _list_of(tree).exists():
        return [], []
    entries = list(read_index_lines(_list_of(tree).read_bytes()))
    kept = [e for e in entries if e.mode == _LINK and e.path in gone and _is_free(root, e.path)]
    filled = [e for e in entries if e.mode == _SUBMODULE and _has_files(os.path.join(root, e.path))]
    return kept, filled


def _list_of(tree: Path) -> Path:
    return tree.with_name(f"{tree.name}.withheld")


def read_index_lines(data: bytes) -> Iterator[TreeEntry]:
    """Read entries in the form that `index_line` writes."""
    for line in data.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, _, object_id = about.partition(b" ")
        yield TreeEntry(mode, object_id, path)


def _is_free(root: bytes, path: bytes) -> bool:
    """Return True if nothing was put at a path, and no file replaced one of its directories."""
    parts = path.split(b"/")
    above = (os.path.join(root, *parts[:depth]) for depth in range(1, len(parts)))
    if any(os.path.lexists(each) and (os.path.islink(each) or not os.path.isdir(each)) for each in above):
        return False
    return not os.path.lexists(os.path.join(root, path))


def _has_files(directory: bytes) -> bool:
    try:
        with os.scandir(directory) as entries:
            return next(entries, None) is not None
    except OSError:
        return False


def _report(entries: Iterable[TreeEntry], reason: DropReason) -> tuple[Dropped, ...]:
    return tuple(Dropped(display_path(entry.path), reason) for entry in entries)
