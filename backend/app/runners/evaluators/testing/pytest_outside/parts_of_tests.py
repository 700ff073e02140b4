"""Finds which statements of a file of tests belong to one test: of a class, not those of other tests."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

_SETUPS = (
    *("setUp", "tearDown", "setUpClass", "tearDownClass", "asyncSetUp", "asyncTearDown"),
    *("setup_method", "teardown_method", "setup_class", "teardown_class", "setup", "teardown"),
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def parts_of(
    place: Sequence[str], fixtures: Sequence[str], definitions: Mapping[str, ast.stmt]
) -> tuple[list[ast.AST], set[str]]:
    """Return the statements that belong to a test, and the names of the classes that they are parts of.

    A test in a class has its method, the methods that run around it, those that these name, and all other
    statements of the class and of its bases in the file. The caller follows the helpers that they name.

    Args:
        place: names of the test's classes, and of its function; none for a test that is the whole file.
        fixtures: names of those that the test uses.
        definitions: the file's functions, classes and variables, by name.
    """
    if not place:
        return list(definitions.values()), set()
    first = definitions.get(place[0])
    if not isinstance(first, ast.ClassDef):
        return ([] if first is None else [first]), set()
    lineage = list(_lineage(first, definitions))
    methods = [each for kind in lineage for each in kind.body if isinstance(each, _FUNCTIONS)]
    if len(place) != 2 or place[1] not in {each.name for each in methods}:
        return list(lineage), {each.name for each in lineage}
    parts: list[ast.AST] = [each for kind in lineage for each in _beside_methods(kind)]
    parts += _reached([place[1], *_SETUPS, *fixtures], methods)
    return parts, {each.name for each in lineage}


def words_of(part: ast.AST) -> Iterator[str]:
    """Yield the names of variables, attributes and arguments in a statement."""
    for node in ast.walk(part):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg


def _lineage(kind: ast.ClassDef, definitions: Mapping[str, ast.stmt]) -> Iterator[ast.ClassDef]:
    """Yield a class and its bases in the same file, each once."""
    waiting, seen = [kind], set[str]()
    while waiting:
        each = waiting.pop()
        if each.name in seen:
            continue
        seen.add(each.name)
        yield each
        bases = [definitions.get(base.id) for base in each.bases if isinstance(base, ast.Name)]
        waiting += [base for base in bases if isinstance(base, ast.ClassDef)]


def _beside_methods(kind: ast.ClassDef) -> Iterator[ast.AST]:
    yield from (each for each in kind.body if not isinstance(each, _FUNCTIONS))
    yield from (*kind.decorator_list, *kind.bases, *kind.keywords)


def _reached(
    names: Iterable[str], methods: Sequence[ast.FunctionDef | ast.AsyncFunctionDef]
) -> list[ast.AST]:
    """Return the methods of some names, and those that they name in turn."""
    waiting, seen = list(names), set[str]()
    found: list[ast.AST] = []
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        mine = [each for each in methods if each.name == name]
        found += mine
        waiting += [word for each in mine for word in words_of(each)]
    return found
