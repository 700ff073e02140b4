"""Tracks which test files a test has named to the candidate's code, and which that opens unasked."""

from __future__ import annotations

import json
import os
import posixpath
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

_MAX_BYTES = 16_000_000
_SHORTEST = 3
_NOT_SET_BY_TESTS = frozenset({"PYTEST_CURRENT_TEST", "PYTEST_VERSION", "PYTHONPATH", "TMPDIR", "PWD"})


class Lent:
    """The data files of the tests, and what the tests have said.

    A test that passes on a path, a directory, a name, or the beginning of a name lends the file. Code that
    opens any other file has found it by itself.

    Args:
        tree: the directory that is run, absolute.
        names: the files as POSIX paths relative to it.
    """

    def __init__(self, tree: Path, names: Sequence[str]) -> None:
        self._tree = str(tree)
        self._names = frozenset(names)
        self._heard: deque[bytes] = deque()
        self._size = 0

    def hear(self, message: bytes) -> None:
        """Remember a message, without its standard parts: variables and the import path."""
        self.add_bytes(message[: message.rfind(b',"x":')])

    def add(self, text: str) -> None:
        """Remember a text that names a path."""
        self.add_bytes(json.dumps(text).encode())

    def add_variables(self, before: Mapping[str, str], now: Mapping[str, str]) -> None:
        """Remember the environment variables that a test has set, because they may hold paths."""
        for name, value in now.items():
            if before.get(name) != value and name not in _NOT_SET_BY_TESTS:
                self.add(value)

    def add_bytes(self, text: bytes) -> None:
        """Remember a text. If there are too many, the oldest are forgotten."""
        self._heard.append(text)
        self._size += len(text)
        while self._size > _MAX_BYTES:
            self._size -= len(self._heard.popleft())

    def taken(self, path: object) -> str | None:
        """Return the name of an opened file of the tests that was not lent, or None for any other file."""
        if not isinstance(path, (str, bytes)):
            return None
        name = self._inside(os.fsdecode(path))
        return name if name in self._names and not self._was_lent(name) else None

    def _inside(self, path: str) -> str:
        place = os.path.normpath(os.path.join(os.getcwd(), path))
        return os.path.relpath(place, self._tree) if place.startswith(f"{self._tree}/") else ""

    def _was_lent(self, name: str) -> bool:
        directory, base = posixpath.split(name)
        stem = base.partition(".")[0]
        # A test that passes on the whole tree, or the working directory, lends all of it.
        marks = [base, *([stem] if len(stem) >= _SHORTEST else []), f'"{self._tree}"', '"."']
        while directory:
            marks += [f"{self._tree}/{directory}", f'"{directory}', f"{posixpath.basename(directory)}/"]
            marks += [directory.replace("/", ".") + '"', f'"{posixpath.basename(directory)}"']
            directory = posixpath.dirname(directory)
        wanted = [_written(each) for each in marks]
        return any(each in text for text in self._heard for each in wanted)


def _written(mark: str) -> bytes:
    """Return a text in the form that it has in a message, where quotes surround it."""
    return b'"'.join(json.dumps(part)[1:-1].encode() for part in mark.split('"'))
