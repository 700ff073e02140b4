"""Matches files with the patterns in a checker's configuration."""

import re
from collections.abc import Iterable
from functools import lru_cache


def is_among(name: str, patterns: Iterable[str], *, anywhere: bool = False) -> bool:
    """Return True if a pattern matches a file, or a directory in its path.

    `**` stands for any number of directories, `*` and `?` for characters within a name.

    Args:
        name: a POSIX path relative to the tree.
        patterns: paths and globs, relative to the tree.
        anywhere: True if a pattern without a slash matches in every directory, as in a `.gitignore`.
    """
    return any(_compiled(pattern, anywhere).match(name) for pattern in patterns)


@lru_cache(maxsize=256)
def _compiled(pattern: str, anywhere: bool) -> re.Pattern[str]:
    floating = anywhere and "/" not in pattern.rstrip("/")
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    built = "(?:.*/)?" if floating else ""
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            built += ".*" if last else "(?:[^/]+/)*"
        else:
            built += re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]") + ("" if last else "/")
    return re.compile(f"{built}(?:/.*)?\\Z", re.DOTALL)
