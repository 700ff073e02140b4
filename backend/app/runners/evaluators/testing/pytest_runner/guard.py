"""Detects code under test that replaces parts of pytest which determine the report."""

import builtins
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

_MODULES = (
    *("_pytest.runner", "_pytest.reports", "_pytest.python", "_pytest.skipping", "_pytest.outcomes"),
    *("_pytest.main", "_pytest.nodes", "_pytest.unittest", "_pytest.raises", "_pytest.python_api"),
    *("_pytest.assertion.rewrite", "_pytest.assertion.util", "_pytest._code.code"),
    *(
        "pluggy._callers",
        "pluggy._hooks",
        "pluggy._manager",
        "pluggy._result",
        "pluggy._execution",
        "unittest.case",
    ),
    *("phaserunner_tests.recorder", "phaserunner_tests.canaries", "phaserunner_tests.guard"),
    *("phaserunner_tests.limits", "phaserunner_tests.surroundings", "phaserunner_tests.kinds"),
    "phaserunner_tests.wide_exceptions",
    "phaserunner_tests.deselected",
)
_BUILTINS = ("AssertionError", "abs", "all", "any", "bool", "isinstance", "len", "sorted", "sum", "type")


class Guard:
    """Compares functions of pytest, pluggy and unittest with their state when the guard was made.

    Plug-ins from outside the tree may replace anything, and so may the trusted files of the tree.

    Args:
        tree: the tree that is run.
        trusted: its files that the candidate did not write.
        aside: modules that pytest uses and that can no longer be imported by their names.
    """

    def __init__(self, tree: Path, trusted: "set[str]", aside: "dict[str, ModuleType]") -> None:
        self._tree = tree
        self._aside = aside
        self._trusted = {str(tree / name) for name in trusted}
        self._known = dict(_parts(self._aside))
        self._told: set[str] = set()

    def replaced(self) -> "list[str]":
        """Return new replacements by code of the tree, or by code made from a string."""
        now = dict(_parts(self._aside))
        changed = [name for name, kept in self._known.items() if now.get(name) != kept]
        found = [name for name in changed if name not in self._told and self._is_suspicious(now.get(name))]
        self._told.update(found)
        return found

    def _is_suspicious(self, part: "tuple[Any, Any] | None") -> bool:
        code = part[1] if part else None
        if code is None:
            return True
        file = Path(code.co_filename)
        if str(file) in self._trusted:
            return False
        return self._tree in file.parents or not file.is_absolute()


def _parts(aside: "dict[str, ModuleType]") -> "Iterator[tuple[str, tuple[Any, Any]]]":
    """Yield functions by their full name, each with its code object. The references keep both alive."""
    for name in _BUILTINS:
        yield f"builtins.{name}", (vars(builtins).get(name), None)
    for name in _MODULES:
        module = aside.get(name) or sys.modules.get(name)
        for key, value in vars(module).copy().items() if module else ():
            if isinstance(value, FunctionType):
                yield f"{name}.{key}", (value, value.__code__)
            elif isinstance(value, type) and value.__module__ == name:
                for method, function in vars(value).copy().items():
                    if isinstance(function, FunctionType):
                        yield f"{name}.{key}.{method}", (function, function.__code__)
