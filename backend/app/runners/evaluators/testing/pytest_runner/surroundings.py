"""Detects code under test that changes what tests use besides that code.

Tests make inputs and expectations with the standard library, read files with it, and start processes. Code
that replaces parts of it decides what the tests compare, even if every comparison is right.
"""

import builtins
import doctest
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, cast

from .assigned import assigned_globals
from .kinds import is_kind, names_in, plain_text
from .looking_time import LookingTime
from .module_state import ModuleState, innermost, parts_of
from .noticed import Noticed
from .written_files import WrittenFiles

_LIBRARY: "frozenset[str]" = getattr(sys, "stdlib_module_names", frozenset())
"""Empty before Python 3.10, where changes of the library are not seen."""

_OF_CHILDREN = ("PATH", "LD_PRELOAD", "PYTHONHOME", "PYTHONOPTIMIZE", "PYTHONPATH", "PYTHONSTARTUP")
_GUARDED = frozenset({"pytest", "_pytest", "pluggy", "phaserunner_tests"})
"""Packages that `guard` compares."""

_KNOWN_FIRST = (doctest,)
"""Modules that pytest may import later than the code, although their constants matter."""

_PLAIN = (str, int, float, type(None))
_FREE_SECONDS = 0.05
_ASSIGNS_ANY = re.compile(r"(?<![.\w])(?:setattr|globals|vars)\(|__dict__")
_NAMED = (type, FunctionType, BuiltinFunctionType)


class Surroundings:
    """Compares the surroundings of tests with their state when this was made.

    Args:
        tree: the tree that is run.
        trusted: its files that the candidate did not write.
    """

    def __init__(self, tree: Path, trusted: "set[str]") -> None:
        self._tree = tree
        self._trusted = {str(tree / name) for name in trusted}
        self._files = WrittenFiles(tree, trusted)
        self.noticed = Noticed()
        self._interpreter = sys.executable
        self._environment = _of_children()
        self._builtins = dict(vars(builtins))
        self._variables = dict(os.environ)  # noqa: TID251 - tests read it
        self._globals: dict[str, dict[str, Any]] = {}
        self._library = {
            name: ModuleState(name, module)
            for name, module in sys.modules.copy().items()
            if _is_library(name, module)
        }
        self._packages: frozenset[str] = frozenset()
        self._passing: dict[str, str] = {}
        self._patching: dict[str, bool] = {}
        self._inside: dict[str, bool] = {}
        self._after_tests = LookingTime(_FREE_SECONDS)
        self._after_files = LookingTime()

    def remember(self, modules: "list[Any]") -> None:
        """Remember the names of test modules, once all files are imported."""
        real = list({each.__name__: each for each in modules if isinstance(each, ModuleType)}.values())
        self._globals = {each.__name__: dict(vars(each)) for each in real}
        packages = {name for each in real for name in _packages_of(each)} - _GUARDED
        # Code may load modules from elsewhere under the project's name. They are no library.
        self._packages = frozenset(
            each for each in packages if not self._is_inside(_file_of(sys.modules.get(each)))
        )
        now = dict(os.environ)  # noqa: TID251 - tests read it
        changed = [name for name, value in now.items() if self._variables.get(name) != value]
        if changed:
            texts = [_text_of(each) for each in real]
            told = [name for name in changed if any(_only_reads(text, name) for text in texts)]
            passing = {f"os.environ[{name!r}]": "" for name in told}
            self._passing.update(passing)
            self.noticed.passing(passing)
        self.noticed.look(self._changed_by_candidate())

    def look_after_test(self, test: str, module: Any) -> None:
        """Look at the libraries of a test's file, before the test's own changes are undone.

        What is changed now may be as before after the last test. This takes a small part of the run's time,
        and leaves out files that patch something themselves.
        """
        if not isinstance(module, ModuleType) or not self._after_tests.is_left:
            return
        with self._after_tests:
            if module.__name__ not in self._patching:
                self._patching[module.__name__] = "patch" in _text_of(module)
            if not self._patching[module.__name__]:
                found = self._of_library(set(_packages_of(module)) - _GUARDED)
                passing = {name: file for name, file in found if file}
                self._passing.update(passing)
                self.noticed.passing(passing, test.partition("::")[0])

    def altered(self) -> "dict[str, list[str]]":
        """Return what differs now: `by_candidate`, and `by_others`, which is code of trusted files.

        For processes, names of tests and files, the code that changed them is unknown and counts as the
        candidate's.
        """
        found = {name: file in self._trusted for name, file in self._of_library(None)}
        for name, file in self._passing.items():
            found[name] = found.get(name, True) and file in self._trusted
        self._files.look()
        found.update(dict.fromkeys([*self._of_no_code(), *self._files.names], False))
        by_candidate = [name for name, trusted in found.items() if not trusted]
        if self.noticed.waiting:
            # Each look has said which files were written.
            self.noticed.look(each for each in by_candidate if each not in self._files.names)
        return {
            "by_candidate": by_candidate,
            "by_others": [name for name, trusted in found.items() if trusted],
        }

    def look_after_file(self, test: str, next_test: str) -> None:
        """Look at everything after the last test of a file, if that takes a small part of the time."""
        test_file = test.partition("::")[0]
        if next_test.partition("::")[0] == test_file:
            return
        self.noticed.passing(self._files.look(), test_file)
        self.noticed.waiting.append(test_file)
        if self._after_files.is_left:
            with self._after_files:
                self.noticed.look(self._changed_by_candidate())

    def _changed_by_candidate(self) -> "Iterator[str]":
        yield from (name for name, file in self._of_library(None) if file not in self._trusted)
        yield from self._of_no_code()

    def _of_no_code(self) -> "Iterator[str]":
        """Yield changes that no code is known for."""
        yield from self._of_processes()
        yield from self._of_tests()
        yield from self._of_helpers()

    def _of_library(self, packages: "set[str] | None") -> "Iterator[tuple[str, str]]":
        """Yield replaced parts of some packages, or of all, each with the file of its code.

        Names that a library did not have change nothing that tests use.
        """
        # A copy, because pairs made from the dictionary itself are garbage to collect, and finalizers import.
        for name, module in sys.modules.copy().items():
            package = name.partition(".")[0]
            if packages is not None and package not in packages:
                continue
            if not (_is_library(name, module) or self._is_helper(package, module)):
                continue
            state = self._library.get(name)
            if state and state.is_kept_by(module):
                continue
            before = state.parts() if state else {}
            for full, value in parts_of(name, module):
                file = _origin(value) if state is None or full in before else ""
                if file and self._is_inside(file):
                    yield full, file
                elif full in before and _is_other_constant(full, before[full], value):
                    yield full, ""

    def _is_inside(self, file: str) -> bool:
        """Return True for a path in the tree. Thousands of parts have their code in the same few files."""
        if file not in self._inside:
            self._inside[file] = self._tree in Path(file).parents
        return self._inside[file]

    def _is_helper(self, package: str, module: Any) -> bool:
        """Return True for a module of an installed package that test files import."""
        file = _file_of(module) if package in self._packages else ""
        return bool(file) and not self._is_inside(file)

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
                own = assigned_globals(now)
                yield from (f"{name}.{key}" for key in changed if key not in own)

    def _of_helpers(self) -> "Iterator[str]":
        """Yield modules that have the name of a trusted file and come from no file, or from another one."""
        for file in self._trusted:
            if file.endswith(".py"):
                path = Path(file).relative_to(self._tree).with_suffix("")
                whole, last = ".".join(path.parts), path.name
                for name in {whole, last}.difference(_LIBRARY):
                    other = _file_of(sys.modules[name]) if name in sys.modules else file
                    is_elsewhere = name == whole and self._tree in Path(other).parents and other != file
                    if not other or is_elsewhere:
                        yield f"sys.modules[{name!r}]"

    def _may_assign_any(self, module: "ModuleType | None") -> bool:
        text = _text_of(module) if module else ""
        return not text or _ASSIGNS_ANY.search(text) is not None


def _file_of(module: Any) -> str:
    """Return the file of a module. Lazy modules import something for an attribute that they do not have."""
    return plain_text(names_in(module).get("__file__"))


def _text_of(module: ModuleType) -> str:
    try:
        return Path(_file_of(module)).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _packages_of(module: ModuleType) -> "Iterator[str]":
    """Yield the packages from which a module has names."""
    for value in list(vars(module).values()):
        if is_kind(value, ModuleType):
            place = names_in(value).get("__name__")
        else:
            place = (value if is_kind(value, _NAMED) else type(value)).__module__
        if isinstance(place, str):
            yield place.partition(".")[0]


def _only_reads(text: str, variable: str) -> bool:
    """Return True if a test file mentions a variable of the environment, and does not set it."""
    name = re.escape(variable)
    if not re.search(rf"""["']{name}["']""", text):
        return False
    sets = (
        rf"""(?:environ\[["']{name}["']\]\s*=|(?:setdefault|setenv|delenv|putenv|pop)\(\s*["']{name}["'])"""
    )
    return re.search(sets, text) is None


def _is_library(name: str, module: Any) -> bool:
    known = name.partition(".")[0] in _LIBRARY and name != "__main__"
    return known and isinstance(module, ModuleType)


def _is_other_constant(full: str, before: Any, value: Any) -> bool:
    """Return True if a constant has another value, or if a function is no longer there."""
    if full.startswith("sys."):
        return False
    if callable(before):
        return value is None
    is_constant = full.rpartition(".")[2].isupper()
    return is_constant and type(before) in _PLAIN and type(value) in _PLAIN and before != value


def _of_children() -> "dict[str, str | None]":
    return {name: os.environ.get(name) for name in _OF_CHILDREN}  # noqa: TID251 - tests and their children read it


def _origin(value: Any) -> str:
    """Return the file with the code of a function, method, class or instance; `""` if there is none."""
    value = innermost(value)
    if is_kind(value, FunctionType):
        return plain_text(value.__code__.co_filename)
    kind = value if is_kind(value, type) else cast("Any", type(value))
    name = cast("Any", vars)(kind).get("__module__")
    if not isinstance(name, str) or name.partition(".")[0] in _LIBRARY:
        return ""
    return _file_of(sys.modules.get(name))
