"""The bundle file format: a header with refs and prerequisites, then a pack.

This module writes bundles itself, because `git bundle` needs two processes and a ref for every commit. The
format is described in gitformat-bundle(5).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.errors import WorkspaceError

_SHA256_LENGTH = 64
_SIGNATURES = (b"# v2 git bundle", b"# v3 git bundle")


@dataclass(frozen=True, slots=True)
class Bundle:
    """The parts of a bundle.

    Attributes:
        commit: the commit it carries.
        ref: full name of the one ref it offers.
        prerequisites: commits the receiver must have.
        pack: the objects.
    """

    commit: str
    ref: str
    prerequisites: tuple[str, ...]
    pack: bytes

    def encode(self) -> bytes:
        """Return the content of the bundle file."""
        lines = ["# v2 git bundle"]
        if len(self.commit) == _SHA256_LENGTH:
            lines = ["# v3 git bundle", "@object-format=sha256"]
        lines += [f"-{commit}" for commit in self.prerequisites]
        lines += [f"{self.commit} {self.ref}", "", ""]
        return "\n".join(lines).encode() + self.pack


def decode_bundle(data: bytes) -> Bundle:
    """Split a bundle with one ref into its parts.

    Raises:
        WorkspaceError: the data is not such a bundle.
    """
    header, separator, pack = data.partition(b"\n\n")
    lines = header.split(b"\n")
    if not separator or lines[0] not in _SIGNATURES or not pack.startswith(b"PACK"):
        raise WorkspaceError("a stored snapshot is not a git bundle")
    refs = [line for line in lines[1:] if not line.startswith((b"-", b"@"))]
    if len(refs) != 1 or b" " not in refs[0]:
        raise WorkspaceError("a stored snapshot does not name exactly one commit")
    commit, _, ref = refs[0].decode("utf-8", "replace").partition(" ")
    return Bundle(commit, ref, _prerequisites(lines), pack)


def object_count(pack: bytes) -> int:
    """Return the number of objects in a pack, according to its header."""
    return int.from_bytes(pack[8:12], "big")


def _prerequisites(lines: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(line[1:].split(b" ")[0].decode() for line in lines[1:] if line.startswith(b"-"))
