"""Finds helpers and data files of a base that only its tests use, wherever they are.

A file counts as theirs if the text of the tests names it and no other source does. This applies to data
beside the tests (`expected.json`), to directories with a name for such data (`golden`), and to modules that
consist of checks. Files that may also belong to the product are left out: documents, examples, settings,
packages. What plug-ins keep beside a test file is named by none: its snapshots, and its own data.
"""

import ast
import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from app.core.python_source import parse_module

_DATA_DIRECTORIES = frozenset(
    {
        *("testdata", "test_data", "test-data", "testing_data", "testcases", "test_cases", "snapshots"),
        *("__snapshots__", "golden", "goldens", "golden_files", "expected", "fixtures", "cassettes"),
    }
)
_DATA_SUFFIXES = frozenset(
    {
        *(".json", ".jsonl", ".txt", ".csv", ".tsv", ".yaml", ".yml", ".xml", ".html", ".out", ".snap"),
        *(".golden", ".expected", ".approved", ".dat", ".bin", ".npy", ".svg", ".sql", ".log", ".pickle"),
    }
)
_SNAPSHOTS = frozenset({"__snapshots__", "snapshots", "cassettes"})
_SNAPSHOT_SUFFIXES = frozenset({"ambr", "snap", "approved", "golden"})
_PRODUCT_DIRECTORIES = frozenset(
    {"doc", "docs", "example", "examples", "demo", "demos", "template", "templates", "static", "schemas"}
)
_PRODUCT_NAMES = re.compile(
    r"(?:require|licen[cs]e|readme|change|news|history|authors|package)", re.IGNORECASE
)
_DEFINES_CHECK = re.compile(rb"^(?:async )?def _*(?:assert|check|expect|verify)", re.MULTILINE)
_CHECKS = ("assert", "check", "expect", "verify")
_NO_TEST_FILES = frozenset({"conftest.py", "__init__.py"})
_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class _Words:
    """The modules that one source imports, and its texts."""

    modules: frozenset[str]
    texts: frozenset[str]


def owned_by_tests(root: Path, names: Sequence[str], is_test: Callable[[str], bool]) -> frozenset[str]:
    """Return the files that only the tests use.

    Only tests, and modules that look like checks, are parsed; all others are searched as text.

    Args:
        root: the base.
        names: its files as POSIX paths.
        is_test: returns True if a file belongs to the tests by its name.
    """
    tests = [name for name in names if name.endswith(".py") and is_test(name)]
    sources = [name for name in names if name.endswith(".py") and not is_test(name)]
    words = [_words_of(_parse(root / name)) for name in tests]
    helpers = _helpers(root, sources, frozenset(part for each in words for part in each.modules))
    mine = _all_texts([*words, *(_words_of(tree) for tree in helpers.values())])
    beside = {posixpath.dirname(name) for name in tests}
    places = {posixpath.dirname(name) for name in sources if name not in helpers}
    kept_beside = dict(_kept_beside(names, tests, places))
    data = {
        name: marks
        for name in names
        if not name.endswith(".py")
        and _may_be_data(name, beside, places)
        and not mine.isdisjoint(marks := _marks(name))
    }
    if not (helpers or data or kept_beside):
        return frozenset()
    others = [_content(root / name) for name in sources if name not in helpers]
    kept = {name for name, marks in {**data, **kept_beside}.items() if not _mention(others, marks)}
    return frozenset(kept | {name for name in helpers if not _import(others, name)})


def _kept_beside(
    names: Sequence[str], tests: Sequence[str], sources: Collection[str]
) -> Iterator[tuple[str, set[str]]]:
    """Return the files that plug-ins keep beside a test file, each with the word that another source may use.

    For `test_add.py` these are a directory `test_add` and files such as `test_add.test_one.approved.txt`, and
    directories of snapshots that hold no sources.
    """
    stems: dict[str, set[str]] = {}
    for name in tests:
        directory, base = posixpath.split(name)
        if base not in _NO_TEST_FILES:
            stems.setdefault(directory, set()).add(base.removesuffix(".py"))
    data = (name for name in names if not name.endswith(".py"))
    return ((name, mark) for name in data for mark in _marks_of_kept(name, stems, sources))


def _marks_of_kept(
    name: str, stems: Mapping[str, Collection[str]], sources: Collection[str]
) -> Iterator[set[str]]:
    place, base = posixpath.split(name)
    if place in stems:
        first, *others = base.split(".")
        if first in stems[place] or not _SNAPSHOT_SUFFIXES.isdisjoint(others):
            yield {base}
    for each in map(str, PurePosixPath(name).parents):
        above, directory = posixpath.split(each)
        known = (*stems.get(above, ()), *_SNAPSHOTS) if above in stems and each not in sources else ()
        if directory in known:
            yield {directory}


def _helpers(root: Path, sources: Sequence[str], imported: Collection[str]) -> dict[str, ast.Module]:
    """Return the modules of checks that tests import."""
    found: dict[str, ast.Module] = {}
    for name in sources:
        dotted = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if dotted in imported and _DEFINES_CHECK.search(_content(root / name)):
            tree = _parse(root / name)
            if tree is not None and _consists_of_checks(tree):
                found[name] = tree
    return found


def _mention(texts: Sequence[bytes], marks: Collection[str]) -> bool:
    wanted = [each.encode() for each in marks]
    return any(each in text for text in texts for each in wanted)


def _import(texts: Sequence[bytes], name: str) -> bool:
    module = posixpath.basename(name.removesuffix("/__init__.py")).removesuffix(".py")
    line = re.compile(
        rb"^(?>[^\n]*?\b(?:from|import)\b)[^\n]*\b" + re.escape(module.encode()) + rb"\b", re.MULTILINE
    )
    return any(line.search(text) for text in texts)


def _consists_of_checks(tree: ast.Module) -> bool:
    """Return True if every function of a module exists to assert something."""
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    if not functions or any(isinstance(each, ast.ClassDef) for each in tree.body):
        return False
    return all(each.name.lstrip("_").startswith(_CHECKS) and _asserts(each) for each in functions)


def _asserts(function: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Name | ast.Attribute) and "AssertionError" in ast.unparse(node))
        for node in ast.walk(function)
    )


def _may_be_data(name: str, beside: Collection[str], sources: Collection[str]) -> bool:
    directory, base = posixpath.split(name)
    parts = directory.split("/") if directory else []
    if _PRODUCT_DIRECTORIES.intersection(parts) or _PRODUCT_NAMES.match(base):
        return False
    if _DATA_DIRECTORIES.intersection(parts):
        return directory not in sources
    return posixpath.splitext(base)[1] in _DATA_SUFFIXES and directory in beside


def _marks(name: str) -> set[str]:
    """Return the words by which a source may name a file."""
    directory, base = posixpath.split(name)
    return {base, name, *_DATA_DIRECTORIES.intersection(directory.split("/"))}


def _all_texts(words: Sequence[_Words]) -> frozenset[str]:
    return frozenset(part for each in words for text in each.texts for part in (text, *text.split("/")))


def _words_of(tree: ast.Module | None) -> _Words:
    if tree is None:
        return _Words(frozenset(), frozenset())
    texts = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200
    }
    return _Words(frozenset(_imported(tree)), frozenset(texts))


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def _content(path: Path) -> bytes:
    try:
        return b"" if path.is_symlink() or path.stat().st_size > _MAX_BYTES else path.read_bytes()
    except OSError:
        return b""


def _parse(path: Path) -> ast.Module | None:
    try:
        return parse_module(_content(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
