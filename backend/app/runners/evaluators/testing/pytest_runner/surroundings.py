"""Detects code under test that changes what tests use besides that code.

Tests make their inputs and expectations with the standard library, read files with it, and start processes.
Code that replaces parts of it decides what the tests compare, even if every comparison is right.
"""

import builtins
import dis
import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_HOOKS = frozenset(
    {
        *("sys.excepthook", "sys.displayhook", "sys.breakpointhook", "sys.unraisablehook"),
        *("threading.excepthook", "warnings.showwarning", "warnings.formatwarning"),
        *("sys.stdin", "sys.stdout", "sys.stderr"),
    }
)
"""Names that the standard library's documentation invites programs to replace."""

_LIBRARY: "frozenset[str]" = getattr(sys, "stdlib_module_names", frozenset())
"""Empty before Python 3.10, where changes of the library are not seen."""

_OF_CHILDREN = ("PATH", "LD_PRELOAD", "PYTHONHOME", "PYTHONOPTIMIZE", "PYTHONPATH", "PYTHONSTARTUP")
_ASSIGNS_ANY = re.compile(r"(?<![.\w])(?:setattr|globals|vars)\(|__dict__")
_WRAPPERS: "tuple[Any, ...]" = (staticmethod, classmethod, MethodType, partial, property)


class Surroundings:
    """Compares the surroundings of tests with their state when this was made.

    Args:
        tree: the tree that is run.
        trusted: its files that the candidate did not write.
    """

    def __init__(self, tree: Path, trusted: "set[str]") -> None:
        self._tree = tree
        self._trusted = {str(tree / name) for name in trusted}
        self._interpreter = sys.executable
        self._environment = _of_children()
        self._builtins = dict(vars(builtins))
        self._globals: dict[str, dict[str, Any]] = {}
        modules = {name: module for name, module in sys.modules.items() if _is_library(name, module)}
        self._library = {full for name, module in modules.items() for full, _ in _parts(name, module)}
        self._loaded = frozenset(modules)

    def remember(self, modules: "list[Any]") -> None:
        """Remember the names of test modules, once all files are imported."""
        real = [each for each in modules if isinstance(each, ModuleType)]
        self._globals = {each.__name__: dict(vars(each)) for each in real}

    def altered(self) -> "dict[str, list[str]]":
        """Return what differs now: `by_candidate`, and `by_others`, which is code of trusted files.

        For processes and names of tests, the code that changed them is unknown and counts as the candidate's.
        """
        found = {name: file in self._trusted for name, file in self._of_library()}
        found.update(dict.fromkeys([*self._of_processes(), *self._of_tests()], False))
        return {
            "by_candidate": [name for name, trusted in found.items() if not trusted],
            "by_others": [name for name, trusted in found.items() if trusted],
        }

    def _of_library(self) -> "Iterator[tuple[str, str]]":
        """Yield replaced parts, each with the file of its code.

        Names that a library did not have change nothing that tests use.
        """
        for name, module in list(sys.modules.items()):
            if not _is_library(name, module):
                continue
            is_new = name not in self._loaded
            for full, value in _parts(name, module):
                file = _origin(value) if is_new or full in self._library else ""
                if file and self._tree in Path(file).parents:
                    yield full, file

    def _of_processes(self) -> "Iterator[str]":
        if sys.executable != self._interpreter:
            yield "sys.executable"
        now = _of_children()
        yield from (f"os.environ[{name!r}]" for name in _OF_CHILDREN if now[name] != self._environment[name])

    def _of_tests(self) -> "Iterator[str]":
        """Yield global names of test modules that no code of their files assigns."""
        for name, before in self._globals.items():
            module = sys.modules.get(name)
            now = dict(vars(module)) if module else before
            changed = [
                key
                for key in now
                if not key.startswith(("_", "@")) and now[key] is not before.get(key, self._builtins.get(key))
            ]
            if changed and not self._may_assign_any(module):
                own = _assigned(now)
                yield from (f"{name}.{key}" for key in changed if key not in own)

    def _may_assign_any(self, module: "ModuleType | None") -> bool:
        try:
            text = Path(str(module and module.__file__)).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return True
        return _ASSIGNS_ANY.search(text) is not None


def _is_library(name: str, module: Any) -> bool:
    known = name.partition(".")[0] in _LIBRARY and name != "__main__"
    return known and isinstance(module, ModuleType)


def _parts(name: str, module: ModuleType) -> "Iterator[tuple[str, Any]]":
    """Yield the public parts of a module and the methods of its classes, by full name."""
    for key, value in list(vars(module).items()):
        full = f"{name}.{key}"
        if key.startswith("_") or full in _HOOKS:
            continue
        yield full, value
        if isinstance(value, type) and vars(value).get("__module__") == name:
            yield from ((f"{full}.{method}", each) for method, each in list(vars(value).items()))


def _of_children() -> "dict[str, str | None]":
    return {name: os.environ.get(name) for name in _OF_CHILDREN}  # noqa: TID251 - tests and their children read it


def _origin(value: Any) -> str:
    """Return the file with the code of a function, method, class or instance; `""` if there is none."""
    while isinstance(value, _WRAPPERS):
        value = _inner(value)
    if isinstance(value, FunctionType):
        return value.__code__.co_filename
    attributes: dict[str, Any] = dict(vars(value if isinstance(value, type) else type(value)))
    name = attributes.get("__module__")
    if not isinstance(name, str) or name.partition(".")[0] in _LIBRARY:
        return ""
    return str(getattr(sys.modules.get(name), "__file__", None) or "")


def _inner(value: Any) -> Any:
    if isinstance(value, property):
        return value.fget
    return value.func if isinstance(value, partial) else value.__func__


def _assigned(names: "Mapping[str, Any]") -> "set[str]":
    """Return the global names that functions and classes of a module assign."""
    waiting: list[CodeType] = []
    for value in names.values():
        parts = [value, *vars(value).values()] if isinstance(value, type) else [value]
        waiting += [each.__code__ for each in map(_unwrapped, parts) if isinstance(each, FunctionType)]
    found: set[str] = set()
    seen: set[CodeType] = set()
    while waiting:
        code = waiting.pop()
        if code not in seen:
            seen.add(code)
            stores = ("STORE_GLOBAL", "DELETE_GLOBAL")
            found.update(each.argval for each in dis.get_instructions(code) if each.opname in stores)
            waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
    return found


def _unwrapped(value: Any) -> Any:
    """Return the function below decorators that keep it, as those of fixtures do."""
    for _ in range(20):
        below = getattr(value, "__wrapped__", None) or getattr(value, "_fixture_function", None)
        if below is None:
            return value
        value = below
    return value
