"""What a candidate changed beside the test setting, and what the base has."""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from app.core.python_source import parse_module
from app.runners.evaluators.source_tree import same_file
from app.runners.evaluators.testing.layout.trees import Layout, RunTree
from app.runners.evaluators.tree_files import small_file

_MOST_GOLDEN = 20_000


@dataclass(frozen=True)
class NewSource:
    """What a candidate changed beside the test setting.

    Attributes:
        base: the tree with the base commit.
        workspace: the candidate's tree.
        layout: the runs of its tests.
    """

    base: Path
    workspace: Path
    layout: Layout

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """New and changed Python files outside the test setting, by path."""
        return {
            name: text
            for name in self._changed
            if name.endswith(".py") and (text := small_file(self.workspace / name).decode("utf-8", "replace"))
        }

    @cached_property
    def code(self) -> Mapping[str, str]:
        """`texts`; if the base has no tests, the Python files that the candidate's own tests can use."""
        run = self.layout.own_run
        if self.layout.base_run or run is None:
            return self.texts
        names = [name for name in self._changed_in(run) if name.endswith(".py")]
        return {name: small_file(self.workspace / name).decode("utf-8", "replace") for name in names}

    @cached_property
    def data(self) -> Mapping[str, bytes]:
        """New and changed files that are not Python, by path."""
        return {name: small_file(self.workspace / name) for name in self._changed if not name.endswith(".py")}

    def begins_with(self, name: str, marks: tuple[bytes, ...]) -> bool:
        """Return True if a file of the candidate begins with one of some marks, however large it is.

        A link begins with none, because it may lead out of the tree, or to something that never ends.
        """
        path = self.workspace / name
        try:
            if path.is_symlink():
                return False
            with path.open("rb") as file:
                return file.read(max(map(len, marks))).startswith(marks)
        except OSError:
            return False

    @cached_property
    def tests(self) -> Mapping[str, str]:
        """The test files of the base, by path."""
        return {
            name: small_file(self.base / name).decode("utf-8", "replace") for name in self.layout.base_tests
        }

    @cached_property
    def golden(self) -> Mapping[str, str]:
        """The short texts of the base's test setting that are not Python, by path."""
        run = self.layout.base_run
        names = [name for name in run.trusted if not name.endswith(".py")] if run else []
        short = [name for name in names if _size(self.base / name) <= _MOST_GOLDEN]
        return {name: small_file(self.base / name).decode("utf-8", "replace") for name in short}

    @cached_property
    def known(self) -> Mapping[str, str]:
        """The sources of the base, by path."""
        names = self.layout.base_sources
        return {name: small_file(self.base / name).decode("utf-8", "replace") for name in names}

    @cached_property
    def _changed(self) -> tuple[str, ...]:
        return self._changed_in(self.layout.base_run) if self.layout.base_run else ()

    def _changed_in(self, run: RunTree) -> tuple[str, ...]:
        of_tests = {*run.trusted, *self.layout.own_tests, *self.layout.added}
        return tuple(name for name in run.files if name not in of_tests and not self._is_same(name))

    def _is_same(self, name: str) -> bool:
        return (self.base / name).is_file() and same_file(self.base / name, self.workspace / name)


def new_to_sources(
    source: NewSource, used_by: Callable[[str], frozenset[str]]
) -> Iterator[tuple[str, list[str]]]:
    """Yield the new and changed files that use what no source of the base uses, with what that is."""
    found = {name: used for name, text in source.texts.items() if (used := used_by(text))}
    if not found:
        return
    known = frozenset(each for text in source.known.values() for each in used_by(text))
    for name, used in found.items():
        if new := sorted(used - known):
            yield name, new


def parsed(texts: Mapping[str, str]) -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules of the sources that can be parsed."""
    for name, text in texts.items():
        try:
            yield name, parse_module(text.encode())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
