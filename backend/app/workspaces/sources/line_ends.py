"""Line endings that a repository's attributes ask for, in a tree that was laid out without them.

The repository of a run returns all bytes unchanged. In a person's working tree, git has written the line
endings that `.gitattributes` name, so files that are the same would look different.
"""

import os
import re
import tempfile
from pathlib import Path

import anyio.to_thread

from app.workspaces.history.git import Git
from app.workspaces.history.line_ends import ATTRIBUTES_FILE, asks_for_crlf, attributes_told, with_crlf

_LONE = re.compile(rb"(?<!\r)\n")


async def write_line_ends(tree: Path, git: Git) -> None:
    """Give the files of a tree the line endings that its own `.gitattributes` ask for.

    Raises:
        GitError: git cannot read them.
        OSError: a file cannot be written.
    """
    names = await anyio.to_thread.run_sync(_files_if_asked, tree)
    if not names:
        return
    with tempfile.TemporaryDirectory(prefix="phaserunner-attributes-") as place:
        told = await attributes_told(git, Path(place), tree, names)
    await anyio.to_thread.run_sync(_convert, tree, told)


def _files_if_asked(tree: Path) -> list[bytes]:
    """Return the paths of all files if a file of attributes asks for CRLF, else none."""
    found = [Path(place, name) for place, _, names in os.walk(tree) for name in names]
    asking = (each for each in found if each.name == ATTRIBUTES_FILE and not each.is_symlink())
    if not any(asks_for_crlf(each.read_bytes()) for each in asking):
        return []
    return [os.fsencode(each.relative_to(tree)) for each in found if not each.is_symlink()]


def _convert(tree: Path, told: bytes) -> None:
    for name, text in with_crlf(told):
        path = tree / os.fsdecode(name)
        content = path.read_bytes()
        # git leaves a file as it is if it finds by itself that the file is no plain text.
        if text == b"auto" and (b"\r" in content or b"\0" in content):
            continue
        path.write_bytes(_LONE.sub(b"\r\n", content))
