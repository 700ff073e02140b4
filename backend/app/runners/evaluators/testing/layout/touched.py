"""Decides whether a test that already failed ran through code that the candidate changed."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.core.python_source import parse_module
from app.runners.evaluators.source_tree import project_files
from app.runners.evaluators.testing.layout.inventory import file_of, function_of

_ROOTS = ("", "src/", "lib/")
_WORD = re.compile(r"[a-z]{4,}")
_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Touched:
    """The candidate's changes.

    Attributes:
        base: the tree of the base.
        files: POSIX paths of the files that were changed, added or removed.
    """

    base: Path
    files: frozenset[str]

    def plays_a_part(self, test_id: str, traceback: Iterable[str], words: str) -> bool:
        """Return True if the change may affect a test's failure, or if that is unknown.

        Args:
            test_id: the test.
            traceback: the project's files in the failure's traceback.
            words: the goal in the user's words; a word of it in the test's name makes the test part of it.
        """
        path = file_of(test_id)
        through = {path, *traceback}
        if not (self.files and any(traceback)) or not self.files.isdisjoint(through):
            return True
        if set(_WORD.findall(words.lower())) & set(_WORD.findall(function_of(test_id).lower())):
            return True
        return not self.files.isdisjoint(self.imported_by(path))

    def imported_by(self, path: str) -> Iterable[str]:
        """Return the files of the base that may define what a file of tests imports by name."""
        return _imported_files(self.base / path, path)


def touched_files(base: Path, workspace: Path) -> Touched:
    """Compare two trees file by file."""
    names = {*project_files(base), *project_files(workspace)}
    return Touched(base, frozenset(each for each in names if _differs(base / each, workspace / each)))


def _differs(one: Path, other: Path) -> bool:
    try:
        if one.stat().st_size != other.stat().st_size:
            return True
        return one.read_bytes() != other.read_bytes()
    except OSError:
        return True


def _imported_files(path: Path, name: str) -> Iterator[str]:
    """Yield the files of the tree that may define what a test file imports by name."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            return
        tree = parse_module(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for module in {found for node in ast.walk(tree) for found in _modules(node, name)}:
        place = module.replace(".", "/")
        for root in _ROOTS:
            yield from (f"{root}{place}.py", f"{root}{place}.pyi", f"{root}{place}/__init__.py")


def _modules(node: ast.AST, name: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = name.split("/")[: -node.level] if node.level else []
        module = ".".join([*above, *filter(None, [node.module])])
        yield module
        yield from (f"{module}.{each.name}" for each in node.names)
