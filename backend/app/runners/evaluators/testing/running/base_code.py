"""Knows which modules, functions and classes the base's own code has, apart from its tests."""

import ast
import re
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path

from app.runners.evaluators.source_places import source_places
from app.runners.evaluators.testing.running.dependencies import is_in_tree
from app.runners.evaluators.tree_files import small_file

_DEFINITION = re.compile(rb"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)


class BaseCode:
    """The base's code.

    Attributes:
        tree: the tree of the base.
        sources: its Python files that are not tests.
    """

    def __init__(self, tree: Path, sources: Collection[str]) -> None:
        self.tree = tree
        self.sources = frozenset(sources)
        self._arguments: dict[str, list[frozenset[str]]] = {}

    def has_module(self, module: str) -> bool:
        """Return True if the tree contains the package or module with which a dotted name begins."""
        return is_in_tree(module.partition(".")[0], self.tree)

    def is_of_tests(self, module: str) -> bool:
        """Return True if the tree has a module or package with a dotted name, and only tests use it."""
        path = module.replace(".", "/")
        places = [f"{place}/{path}" for place in source_places(self.tree)] + [path]
        for each in places:
            if (self.tree / f"{each}.py").is_file():
                return f"{each}.py" not in self.sources
            if (self.tree / each).is_dir():
                return not any(name.startswith(f"{each}/") for name in self.sources)
        return False

    def defines(self, name: str) -> bool:
        """Return True if some source file has a function or class with this name."""
        return name in self._names

    def mentions(self, module: str) -> bool:
        """Return True if some source file has the last part of a dotted name as a word."""
        word = re.compile(rb"\b" + re.escape(module.rpartition(".")[2].encode()) + rb"\b")
        return any(word.search(small_file(self.tree / name)) for name in self.sources)

    def takes(self, function: str, argument: str) -> bool:
        """Return True if each definition of a function or method in the source files names this argument."""
        if function not in self._arguments:
            texts = map(small_file, map(self.tree.joinpath, self.sources))
            defining = [each for each in texts if f"def {function}(".encode() in each]
            self._arguments[function] = [names for each in defining for names in _arguments(each, function)]
        found = self._arguments[function]
        return bool(found) and all(argument in each for each in found)

    def text(self, file: str) -> str:
        """Return the text of a file of the tree; empty if it is missing or too large."""
        return small_file(self.tree / file).decode("utf-8", "replace")

    @cached_property
    def _names(self) -> frozenset[str]:
        found = (_DEFINITION.findall(small_file(self.tree / name)) for name in self.sources)
        return frozenset(each.decode() for names in found for each in names)


def _arguments(text: bytes, function: str) -> Iterator[frozenset[str]]:
    """Yield the names of the arguments for each definition of a function in a source file."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function:
            yield frozenset(each.arg for each in (*node.args.args, *node.args.kwonlyargs))
