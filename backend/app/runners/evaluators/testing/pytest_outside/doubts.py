"""Finds reasons in a test's own source why its failure with stand-ins is weak evidence."""

from __future__ import annotations

import ast
import sys
from abc import ABCMeta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .parts_of_tests import parts_of, words_of

# Names whose result depends on the process, or that look behind values.
_NAMES = frozenset(
    {
        *("gc", "weakref", "inspect", "signature", "getsource", "pickle", "copy", "deepcopy", "threading"),
        *("Thread", "multiprocessing", "subprocess", "random", "seed", "time", "perf_counter", "monotonic"),
        *("monkeypatch", "mocker", "mock", "Mock", "MagicMock", "patch", "capfd", "capfdbinary", "caplog"),
        *("recwarn", "sys", "getrefcount", "reload", "importlib", "locals", "globals", "id", "types"),
        *("signal", "socket", "asyncio", "tracemalloc", "resource", "linecache", "traceback", "__file__"),
        *(
            "__traceback__",
            "stdin",
            "freeze_time",
            "hypothesis",
            "given",
            "issubclass",
            "__class__",
            "__mro__",
        ),
        *("__bases__", "__dict__", "__code__", "__annotations__", "get_type_hints", "tempfile", "locale"),
        # Names that look at classes and fields rather than values, and at objects with equality by identity.
        *("dataclasses", "asdict", "astuple", "fields", "is_dataclass", "attrs", "attr", "abc", "ABC"),
        *("Mapping", "MutableMapping", "Sequence", "MutableSequence", "Iterable", "Iterator", "Hashable"),
        *("Collection", "Container", "Sized", "Callable", "register", "singledispatch", "Protocol"),
        *("tzinfo", "ZoneInfo", "zoneinfo", "gettz", "pytz", "dateutil", "tz"),
        *("doctest", "getcontext", "setcontext", "localcontext", "sysconfig", "site", "platform", "logging"),
    }
)


_USES = {
    "warnings": frozenset(
        {
            "warnings",
            "warns",
            "recwarn",
            "catch_warnings",
            "simplefilter",
            "filterwarnings",
            "deprecated_call",
        }
        | {"assertWarns", "assertWarnsRegex", "assertNotWarns", "WarningsRecorder"}
    ),
    "output": frozenset(
        {"capsys", "capfd", "capsysbinary", "capfdbinary", "readouterr", "redirect_stdout", "redirect_stderr"}
        | {"StringIO", "stdout", "stderr", "captured_stdout", "captured_output", "caplog"}
    ),
}
"""Words of tests that look at warnings or at output."""


_IDENTITY_ASSERTIONS = frozenset({"assertIs", "assertIsNot"})
"""Of unittest. Equal texts may be two objects after the way to another process and back."""

_ASKS_KIND = frozenset({"isinstance", "assertIsInstance", "assertNotIsInstance"})
_KIND = "kind "


class SourceDoubts:
    """Reads the tests' files, each once."""

    def __init__(self) -> None:
        self._files: dict[Path, dict[str, ast.stmt]] = {}

    def about(self, item: pytest.Item) -> list[str]:
        """Return the doubts about one test, from the test and the helpers in its file."""
        used = self._words(item)
        if used is None:
            return ["the test's source cannot be read"]
        asked = [each[len(_KIND) :] for each in used if each.startswith(_KIND)]
        kinds = {f"the abstract class {each}" for each in asked if _is_abstract(item, each)}
        return sorted(used & _NAMES | {each for each in used if each.startswith("by ")} | kinds)[:5]

    def uses(self, item: pytest.Item) -> list[str]:
        """Return whether a test looks at warnings or at output, or both if its source cannot be read."""
        used = self._words(item)
        return [kind for kind, names in _USES.items() if used is None or used & names]

    def _words(self, item: pytest.Item) -> set[str] | None:
        """Return the names that a test, its fixtures and the helpers in its file use."""
        try:
            definitions = self._read(Path(item.path))
        except (OSError, SyntaxError, ValueError, RecursionError):
            return None
        fixtures: tuple[str, ...] = getattr(item, "fixturenames", ())
        place = item.nodeid.partition("[")[0].split("::")[1:]
        parts, seen = parts_of(place, fixtures, definitions)
        found = {*fixtures}.union(*map(_used, parts))
        names = list(found)
        while names:
            name = names.pop()
            if name in definitions and name not in seen:
                seen.add(name)
                used = _used(definitions[name])
                found |= used
                names += used
        return found

    def _read(self, file: Path) -> dict[str, ast.stmt]:
        if file not in self._files:
            module = ast.parse(file.read_bytes())
            self._files[file] = {name: each for each in module.body for name in _defines(each)}
        return self._files[file]


def _defines(statement: Any) -> list[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return [each.id for each in targets if isinstance(each, ast.Name)]
    return []


def _used(part: ast.AST) -> set[str]:
    nodes = list(ast.walk(part))
    is_identical = any(
        (isinstance(node, ast.Attribute) and node.attr in _IDENTITY_ASSERTIONS)
        or (isinstance(node, ast.Compare) and _by_identity(node))
        for node in nodes
    )
    kinds = {
        f"{_KIND}{name}"
        for node in nodes
        if isinstance(node, ast.Call) and len(node.args) > 1 and _asks_kind(node.func)
        for name in words_of(node.args[1])
    }
    return {*words_of(part), *kinds, *(["by identity"] if is_identical else [])}


def _asks_kind(called: ast.expr) -> bool:
    return not _ASKS_KIND.isdisjoint(words_of(called))


def _is_abstract(item: pytest.Item, name: str) -> bool:
    """Return True for an abstract class that the test's module has from an installed package.

    Classes are registered with it in the process of the code, so here a stand-in is no instance of it.
    """
    kind = getattr(getattr(item, "module", None), name, None)
    if not isinstance(kind, ABCMeta):
        return False
    origin = sys.modules.get(kind.__module__)
    # The modules of the candidate are no plain ones here.
    return type(origin) is ModuleType and getattr(origin, kind.__name__, None) is kind


def _by_identity(node: ast.Compare) -> bool:
    """Return True if objects are compared by identity, other than with None, True, False or similar."""
    operands = [node.left, *node.comparators]
    return any(
        isinstance(each, (ast.Is, ast.IsNot))
        and not isinstance(one, ast.Constant)
        and not isinstance(other, ast.Constant)
        for each, one, other in zip(node.ops, operands, operands[1:])  # noqa: B905 - Python 3.9 runs this, too
    )
