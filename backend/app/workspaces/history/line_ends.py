"""Line endings that a commit's own `.gitattributes` ask for.

The repository of a run returns all bytes unchanged, with one exception: files that are to end their lines
with CRLF. Git writes those line endings to a working tree and takes them back in a commit.
"""

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import anyio.to_thread

from app.workspaces.history.git import Git, GitTarget

ATTRIBUTES_FILE = ".gitattributes"
_ASKED = b"eol=crlf"
_PLAIN_NAME = re.compile(rb'[^\s"\\*?\[\]]+')


async def crlf_rules(git: Git, target: GitTarget, commit: str) -> bytes:
    """Return the attributes that give some files of a commit CRLF line endings; empty if there are none.

    Files with white space or the signs of a pattern in their names are left out.

    Raises:
        GitError: git cannot read the commit.
    """
    listing = await git.run(["ls-tree", "-r", "-z", commit], target)
    files = dict(_files(listing))
    asking = [name for name in files if os.path.basename(name) == os.fsencode(ATTRIBUTES_FILE)]
    texts = {name: await git.run(["cat-file", "blob", files[name]], target) for name in asking}
    if not any(map(asks_for_crlf, texts.values())):
        return b""
    with tempfile.TemporaryDirectory(prefix="phaserunner-attributes-") as place:
        tree = Path(place) / "tree"
        await anyio.to_thread.run_sync(_write, tree, texts)
        told = await attributes_told(git, Path(place) / "git", tree, files)
    return b"".join(
        b"/%s %s eol=crlf\n" % (name, b"text=auto" if text == b"auto" else b"text")
        for name, text in with_crlf(told)
        if _PLAIN_NAME.fullmatch(name)
    )


def asks_for_crlf(attributes: bytes) -> bool:
    """Return True if a file of attributes asks for CRLF somewhere."""
    return _ASKED in attributes


async def attributes_told(
    git: Git, git_dir: Path, tree: Path, names: Mapping[bytes, str] | list[bytes]
) -> bytes:
    """Return what the attributes of a tree say about `text` and `eol` of some files, for `with_crlf`.

    Args:
        git: the program.
        git_dir: a directory for an empty repository.
        tree: holds the files of attributes; the others need not be there.
        names: paths relative to the tree.

    Raises:
        GitError: git cannot read them.
    """
    target = GitTarget(git_dir, tree)
    await git.run(["init", "-q"], target)
    asked = ["-C", str(tree), "check-attr", "-z", "--stdin", "text", "eol"]
    return await git.run(asked, target, stdin=b"".join(name + b"\0" for name in names))


def with_crlf(told: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield path and `text` of the files that end their lines with CRLF."""
    words = iter(told.split(b"\0"))
    texts: dict[bytes, bytes] = {}
    for name, attribute, value in zip(words, words, words, strict=False):
        if attribute == b"text":
            texts[name] = value
        elif value == b"crlf" and texts.get(name) != b"unset":
            yield name, texts.get(name, b"")


def _files(listing: bytes) -> Iterator[tuple[bytes, str]]:
    """Yield path and id of the files in the output of `ls-tree -r -z`, without links and submodules."""
    for entry in listing.split(b"\0"):
        head, _, name = entry.partition(b"\t")
        if head.startswith(b"100") and b".." not in name.split(b"/"):
            yield name, head.split()[2].decode()


def _write(tree: Path, texts: Mapping[bytes, bytes]) -> None:
    for name, text in texts.items():
        path = tree / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
