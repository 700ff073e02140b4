"""Rules for paths in a working tree: how they are shown, which are refused, where links lead."""

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
"""What no commit of an attempt takes up, as a `.gitignore`; the tree's own rules may override it."""

_EXCLUDED = frozenset(name.encode() for name in EXCLUDED_DIRECTORIES)
# Names that git refuses in a tree because some file system would take them for `.git`.
_GIT_DIRECTORY = re.compile(rb"(?i)(?:\.git|git~1)[ .]*(?::.*)?", re.DOTALL)
_MAX_LINKS = 40
_INNER_JOINER = re.compile("(?<=[^\\x00-\\x7f])[\u200c\u200d](?=[^\\x00-\\x7f])")


def display_path(path: bytes) -> str:
    """Return a path as printable text; what is not UTF-8 or does not print is escaped.

    Joiners inside emoji and scripts that need them stay; beside ASCII they would imitate another name.
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
    """Tell whether git, here or on another system, would take the name for its own directory."""
    return _GIT_DIRECTORY.fullmatch(name) is not None


def is_excluded_directory(name: bytes) -> bool:
    """Tell whether a directory of this name holds caches or installed packages only."""
    return name in _EXCLUDED


def leaves_tree(root: bytes, link: bytes) -> bool:
    """Tell whether following `link`, a path below `root`, leaves the tree on its way.

    Absolute targets leave it even when they point back inside: a copy of the tree lies elsewhere. Links on
    the way are followed; a loop leads nowhere and so does not leave.
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
