"""Finds the test files of a base if its configuration makes pytest search sources, too.

Projects with doctests in modules often set `python_files = *.py` or `package/*.py`. The modules that match
such a pattern are still sources: a candidate may change them, and the base's must not replace them.
"""

import ast
import os
import posixpath
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from app.core.python_source import parse_module

_MAX_BYTES = 1_000_000
_TEST_DIRECTORIES = frozenset({"test", "tests"})
_TEST_MODULES = frozenset({"test.py", "tests.py"})
_NO_TEST_FILES = frozenset({"__init__.py", "__main__.py", "conftest.py"})
_MAX_FILES = 5_000
_MAX_NAMED = 100


def patterns_of_tests(base: Path, patterns: Sequence[str]) -> tuple[str, ...]:
    """Return globs of the test files alone.

    A pattern that is about tests stays. Any other is replaced by the names of the base's files that it
    matches and that define a test or are in a test directory, and by whole directories in which all of them
    do.

    Args:
        base: the base's tree.
        patterns: the base's `python_files`.
    """
    kept = [each for each in patterns if "test" in posixpath.basename(each).lower()]
    wide = [each for each in patterns if each not in kept]
    if not wide:
        return tuple(patterns)
    by_directory: dict[str, list[tuple[str, bool]]] = {}
    for name in _modules(base):
        filename = posixpath.basename(name)
        if any(fnmatchcase(name if "/" in each else filename, each) for each in wide):
            found = by_directory.setdefault(posixpath.dirname(name), [])
            found.append((name, defines_tests(base / name)))
    for directory, modules in by_directory.items():
        # `__init__.py` goes with the modules beside it. If it is the only one, it says nothing about them.
        others = [tests for name, tests in modules if not name.endswith("__init__.py")]
        if directory and others and all(others):
            kept.append(f"{directory}/*.py")
        else:
            # In a test directory, a module may only import its neighbours' tests: `tests/__main__.py`.
            inside = not _TEST_DIRECTORIES.isdisjoint(directory.split("/"))
            kept += [
                name for name, tests in modules if tests or (inside and not name.endswith("__init__.py"))
            ]
    return tuple(kept)


def named_otherwise(base: Path, usual: Sequence[str]) -> tuple[str, ...]:
    """Return modules with tests in test directories, and those named `tests`, if no file has a usual name.

    That is the case in projects that run `python -m unittest package.tests`, where modules can have any name,
    and in projects with a module of tests in each package.

    Args:
        base: the base's tree.
        usual: globs of the usual names.
    """
    others: list[str] = []
    for name in _modules(base):
        filename = posixpath.basename(name)
        if any(fnmatchcase(filename, each) for each in usual):
            if defines_tests(base / name):
                return ()
        elif filename in _TEST_MODULES or _is_among_tests(name):
            others.append(name)
    return tuple(sorted(name for name in others if defines_tests(base / name))[:_MAX_NAMED])


def _is_among_tests(name: str) -> bool:
    *directories, filename = name.split("/")
    return not _TEST_DIRECTORIES.isdisjoint(directories) and filename not in _NO_TEST_FILES


def _modules(base: Path) -> Iterator[str]:
    count = 0
    for directory, subdirectories, files in os.walk(base):
        subdirectories[:] = [each for each in subdirectories if not each.startswith((".", "__pycache__"))]
        for name in files:
            if name.endswith(".py") and count < _MAX_FILES:
                count += 1
                yield (Path(directory) / name).relative_to(base).as_posix()


def defines_tests(path: Path) -> bool:
    """Return True if a module has tests with usual names, or cannot be read."""
    if not path.is_file():
        return False
    try:
        if path.stat().st_size > _MAX_BYTES:
            return True
        tree = parse_module(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return True
    return any(_is_test(each) for each in tree.body)


def _is_test(node: ast.stmt) -> bool:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name.startswith("test")
        case ast.ClassDef(name=name, body=body):
            methods = [each for each in body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
            return name.startswith("Test") or any(each.name.startswith("test") for each in methods)
        case ast.If(body=body, orelse=other) | ast.Try(body=body, orelse=other):
            return any(_is_test(each) for each in (*body, *other))
        case _:
            return False
