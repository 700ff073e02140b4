"""Knows which modules, functions and classes the base's own code has, apart from its tests."""

import ast
import re
from collections.abc import Collection, Mapping, Sequence
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

    def takes(self, function: str, argument: str) -> bool:
        """Return True if each definition of a function or method in the source files names this argument."""
        found = [names for file in self.sources for names in self._argument_names(file).get(function, ())]
        return bool(found) and all(argument in each for each in found)

    def _argument_names(self, file: str) -> Mapping[str, Sequence[frozenset[str]]]:
        """Return the arguments of each function in a file, for each of its definitions."""
        found: dict[str, list[frozenset[str]]] = {}
        try:
            module = ast.parse(small_file(self.tree / file))
        except (SyntaxError, ValueError, RecursionError):
            return found
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = node.args
                names = [each.arg for each in (*arguments.args, *arguments.kwonlyargs)]
                found.setdefault(node.name, []).append(frozenset(names))
        return found

    def text(self, file: str) -> str:
        """Return the text of a file of the tree; empty if it is missing or too large."""
        return small_file(self.tree / file).decode("utf-8", "replace")

    @cached_property
    def _names(self) -> frozenset[str]:
        found = (_DEFINITION.findall(small_file(self.tree / name)) for name in self.sources)
        return frozenset(each.decode() for names in found for each in names)
