"""Rules for paths in a working tree: how they are shown, which are refused, and where links lead."""

import os
import re
from collections import deque

EXCLUDED_DIRECTORIES = (
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".venv",
    "node_modules",
)
EXCLUDE_FILE = "".join(f"{name}/\n" for name in EXCLUDED_DIRECTORIES) + "*.pyc\n"
"""Files that no commit of an attempt includes, as a `.gitignore`. The tree's own rules may override it."""

_EXCLUDED = frozenset(name.encode() for name in EXCLUDED_DIRECTORIES)
# Names that git refuses in a tree, because some file system would treat them as `.git`.
_GIT_DIRECTORY = re.compile(rb"(?i)(?:\.git|git~1)[ .]*(?::.*)?", re.DOTALL)
_MAX_LINKS = 40
_INNER_JOINER = re.compile("(?<=[^\\x00-\\x7f])[\u200c\u200d](?=[^\\x00-\\x7f])")


def display_path(path: bytes) -> str:
    """Return a path as printable text. Bytes that are not UTF-8 or not printable are escaped.

    Joiners inside emoji and in scripts that need them stay. Next to ASCII they are escaped, because they
    could imitate another name.
    """
    text = path.decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    kept = {match.start() for match in _INNER_JOINER.finditer(text)}
    return "".join(
        c if c.isprintable() or at in kept else c.encode("unicode_escape").decode("ascii")
        for at, c in enumerate(text)
    )


def is_git_directory_name(name: bytes) -> bool:
    """Return True if git, on any system, would treat the name as its own directory."""
    return _GIT_DIRECTORY.fullmatch(name) is not None


def is_excluded_directory(name: bytes) -> bool:
    """Return True if a directory with this name only holds caches or installed packages."""
    return name in _EXCLUDED


def leaves_tree(root: bytes, link: bytes) -> bool:
    """Return True if following `link`, a path below `root`, leads out of the tree at any point.

    Absolute targets leave the tree even if they point back inside, because a copy of the tree is at another
    path. Links on the way are followed. A loop leads nowhere, so it does not leave the tree.
    """
    parts = deque(link.split(b"/"))
    position: list[bytes] = []
    followed = 0
    while parts and followed <= _MAX_LINKS:
        part = parts.popleft()
        if part == b"..":
            if not position:
                return True
            position.pop()
        elif part not in (b"", b"."):
            position.append(part)
            target = _link_target(os.path.join(root, *position))
            if target is not None:
                if target.startswith(b"/"):
                    return True
                followed += 1
                position.pop()
                parts.extendleft(reversed(target.split(b"/")))
    return False


def _link_target(path: bytes) -> bytes | None:
    try:
        return os.readlink(path)
    except OSError:
        return None
