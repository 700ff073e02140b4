"""Finds the expectations that a test takes from data files: `assert f(row["in"]) == row["out"]`."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from app.runners.evaluators.testing.counter_tests.names import Function, Names
from app.runners.evaluators.testing.counter_tests.sites import DataPlace, Kind, Site
from app.runners.evaluators.testing.counter_tests.walk import (
    called_name,
    has_rows,
    last_name,
    statements,
)

_DEEPEST = 4
_SHOWN_CHARS = 120
_READERS = frozenset({"DictReader", "reader", "load", "loads", "enumerate", "list", "sorted", "tuple"})
_TEXTS = frozenset({"read_text", "read_bytes"})
_EVERYWHERE = frozenset({"Path", "os", "__file__"})
_SAME_TEXT = frozenset({"strip", "rstrip", "splitlines", "decode", "encode"})
_EQUATIONS = frozenset({"assertEqual", "assertEquals", "assertListEqual", "assertMultiLineEqual"})


def data_sites(
    function: Function, names: Names, constants: Mapping[str, ast.expr], *, plain: bool
) -> tuple[Site, ...]:
    """Return the places in data files with which a test compares a result.

    A place counts only if the test uses its value for nothing else. A value that is also passed to the code
    under test may be changed without an effect.

    Args:
        function: the test.
        names: the names of the test.
        constants: module-level names that are set once, with their values.
        plain: whether no decorator can keep the test from running.
    """
    reader = _Reader(function, names, constants)
    found: list[Site] = []
    for statement, sure in statements(function.body, sure=plain, is_full=reader.has_rows):
        for place in reader.places(statement):
            shown = " ".join(ast.unparse(statement).split())[:_SHOWN_CHARS]
            found.append(Site(statement.lineno, shown, Kind.VALUE, certain=sure, data=place))
    return tuple(found)


class _Reader:
    """Reads one test."""

    def __init__(self, function: Function, names: Names, constants: Mapping[str, ast.expr]) -> None:
        self._names = names
        self._constants = constants
        nodes = list(ast.walk(function))
        self._texts = Counter(
            each.value for each in nodes if isinstance(each, ast.Constant) and isinstance(each.value, str)
        )
        self._local = {each.arg for each in nodes if isinstance(each, ast.arg)}
        self._local |= {
            each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        self._assigned = {
            each.targets[0].id: each.value
            for each in nodes
            if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
        }
        self._rows: dict[str, DataPlace | None] = {}
        for target, rows in [*_loops(nodes), *_parametrised(function)]:
            if self._is_data(rows):
                self._rows.update(_places_of(target))
        self._loads = Counter(each.id for each in nodes if isinstance(each, ast.Name))
        keyed = Counter(
            each.value.id
            for each in nodes
            if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name)
        )
        # The code may learn the expected value from a row that is passed on as a whole.
        stores = Counter(name for target, _ in _loops(nodes) for name in _places_of(target))
        self._whole = {name for name, count in self._loads.items() if keyed[name] + stores[name] < count}

    def has_rows(self, loop: ast.expr) -> bool:
        """Return True if a loop runs at least once."""
        return has_rows(loop) or self._is_data(loop)

    def places(self, statement: ast.stmt) -> Iterator[DataPlace]:
        """Yield the places with the values that a statement expects."""
        for result, expected in _equations(statement):
            place = self._place(expected, 0)
            if place is not None and any(isinstance(each, ast.Call) for each in ast.walk(result)):
                yield place

    def _place(self, node: ast.expr, depth: int) -> DataPlace | None:
        match node:
            case ast.Name(id=name) if depth < _DEEPEST and self._names.is_only_read_once(name):
                origins = self._names.origins(name)
                if len(origins) == 1 and origins[0].row is None:
                    return self._place(origins[0].node, depth + 1)
                return self._rows.get(name)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str() as key)):
                is_row = name in self._rows and self._rows[name] is None and name not in self._whole
                return DataPlace(key=key) if is_row and self._texts[key] == 1 else None
            case ast.Call(func=ast.Name(id="int" | "float"), args=[value]):
                return self._place(value, depth)
            case ast.Call(func=ast.Attribute(attr=attribute, value=value)):
                if attribute in _SAME_TEXT:
                    return self._place(value, depth)
                return self._file(value) if attribute in _TEXTS else None
            case _:
                return None

    def _file(self, node: ast.expr) -> DataPlace | None:
        """Return the file that a path names, if no part of the path depends on the run."""
        texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
        used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        files = [each for each in texts if isinstance(each, str) and PurePosixPath(each).suffix]
        # If the test uses the directory elsewhere, the code may find the file through it.
        again = {each for each in used if self._loads[each] > 1 and each not in _EVERYWHERE}
        if len(files) != 1 or self._texts[files[0]] != 1 or used & self._local or again:
            return None
        return DataPlace(file=PurePosixPath(files[0]).name)

    def _is_data(self, node: ast.expr, depth: int = 0) -> bool:
        """Return True if an expression's value is the content of a data file."""
        if depth > _DEEPEST:
            return False
        match node:
            case ast.Call(args=[first, *_]) if called_name(node) in _READERS:
                is_parsed = called_name(node) in ("DictReader", "reader", "load", "loads")
                return (is_parsed and _is_library(node.func)) or self._is_data(first, depth + 1)
            case ast.Subscript():
                return self._is_data(node.value, depth + 1)
            case ast.Name(id=name):
                value = self._assigned.get(name) or self._constants.get(name)
                return value is not None and self._is_data(value, depth + 1)
            case _:
                return False


def _is_library(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and last_name(node.value) in ("csv", "json", "tomllib", "tomli")


def _equations(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield two operands that must be equal, in both orders."""
    match statement:
        case ast.Assert(test=ast.Compare(left=one, ops=[ast.Eq()], comparators=[other])):
            yield from ((one, other), (other, one))
        case ast.Expr(value=ast.Call(args=[one, other, *_]) as call) if called_name(call) in _EQUATIONS:
            yield from ((one, other), (other, one))
        case _:
            pass


def _loops(nodes: Sequence[ast.AST]) -> list[tuple[ast.expr, ast.expr]]:
    return [(each.target, each.iter) for each in nodes if isinstance(each, ast.For)]


def _parametrised(function: Function) -> Iterator[tuple[ast.expr, ast.expr]]:
    for each in function.decorator_list:
        match each:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, values], keywords=[]):
                yield _as_target(names), values
            case _:
                pass


def _as_target(names: ast.expr) -> ast.expr:
    """Return the names of parameters in the form of a loop's target."""
    match names:
        case ast.Constant(value=str() as text):
            words = [each.strip() for each in text.split(",") if each.strip()]
        case ast.List() | ast.Tuple():
            words = [str(each.value) for each in names.elts if isinstance(each, ast.Constant)]
        case _:
            words = []
    parts: list[ast.expr] = [ast.Name(id=each, ctx=ast.Store()) for each in words]
    return parts[0] if len(parts) == 1 else ast.Tuple(elts=parts, ctx=ast.Store())


def _places_of(target: ast.expr) -> dict[str, DataPlace | None]:
    """Return the names for a row's columns, or for a row as a whole, with None as its place."""
    match target:
        case ast.Name(id=name):
            return {name: None}
        case ast.Tuple(elts=elts):
            return {
                each.id: DataPlace(column=column, width=len(elts))
                for column, each in enumerate(elts)
                if isinstance(each, ast.Name)
            }
        case _:
            return {}
