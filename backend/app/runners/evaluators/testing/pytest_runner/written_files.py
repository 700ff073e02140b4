"""Detects trusted files that were written, even if they are as before again."""

import os
from collections.abc import Iterable
from pathlib import Path


class WrittenFiles:
    """Compares the times at which files were changed, which no program can set.

    Args:
        tree: the tree that is run.
        files: paths relative to it.
    """

    def __init__(self, tree: Path, files: "Iterable[str]") -> None:
        self._tree = tree
        # Tests may replace this function.
        self._lstat = os.lstat
        self._changes = {name: self._change_of(name) for name in sorted(files)}
        self.names: dict[str, None] = {}
        """Those that were written, in the order of the looks."""

    def look(self) -> "list[str]":
        """Return what was written since the last look."""
        written: list[str] = []
        for name, before in self._changes.items():
            now = self._change_of(name)
            if now != before:
                self._changes[name] = now
                written.append(name)
        self.names.update(dict.fromkeys(written))
        return written

    def _change_of(self, name: str) -> "int | None":
        """Return when a file was last changed in any way; None if it is missing."""
        try:
            return self._lstat(self._tree / name).st_ctime_ns
        except OSError:
            return None
