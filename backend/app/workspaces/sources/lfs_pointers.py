"""Finds the files of a commit that are pointers to objects in git LFS."""

import re
from dataclasses import dataclass

from app.workspaces.history.repository import RunRepository
from app.workspaces.history.withheld import TreeEntry

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*"
    rb"oid sha256:(?P<oid>[0-9a-f]{64})\nsize (?P<size>\d{1,15})\n"
)
_SIZES = range(100, 1024)
"""Possible sizes of pointers, in bytes."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """A file of a commit that points to an object in LFS, with the object's SHA-256 and size in bytes."""

    entry: TreeEntry
    oid: str
    size: int


async def pointers_in(repo: RunRepository, commit: str) -> list[Pointer]:
    """Return the files of a commit that are pointers to LFS."""
    listing = await repo.git.run(["ls-tree", "-r", "-l", "-z", commit], repo.target)
    entries: list[TreeEntry] = []
    for line in listing.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, kind, object_id, size = about.split()
        if kind == b"blob" and mode.startswith(b"100") and int(size) in _SIZES:
            entries.append(TreeEntry(mode, object_id, path))
    asked = b"".join(each.object_id + b"\n" for each in entries)
    content = await repo.git.run(["cat-file", "--batch"], repo.target, stdin=asked) if entries else b""
    found: list[Pointer] = []
    at = 0
    for entry in entries:
        start = content.index(b"\n", at) + 1
        at = start + int(content[at:start].split()[2]) + 1
        match = _POINTER.fullmatch(content, start, at - 1)
        if match:
            found.append(Pointer(entry, match["oid"].decode(), int(match["size"])))
    return found
