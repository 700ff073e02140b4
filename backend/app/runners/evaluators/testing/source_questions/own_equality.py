"""Finds new classes that change what a class with values counts as equal, such as a tuple equal to others."""

import ast
from collections.abc import Collection, Iterator
from typing import TypeGuard

from app.core.python_source import nodes_of
from app.runners.evaluators.testing.source_questions.class_names import classes_of

_VALUES = frozenset(
    {
        *("int", "float", "complex", "str", "bytes", "bytearray"),
        *("tuple", "list", "dict", "set", "frozenset"),
        *("Decimal", "Fraction", "date", "datetime", "timedelta", "OrderedDict", "Counter", "defaultdict"),
        *("deque", "UserDict", "UserList", "UserString", "NamedTuple", "Path", "PurePath"),
    }
)
"""Classes of Python's library that compare their content."""

_COMPARED = ("dataclass", "define", "frozen", "attrs", "total_ordering")
_EQUALITIES = ("__eq__", "__ne__")


def classes_with_values(module: ast.Module) -> frozenset[str]:
    """Return the names of a module's classes whose instances are compared by their content."""
    found = set[str]()
    for each in ast.walk(module):
        if isinstance(each, ast.ClassDef):
            names = [*map(_last_name, each.decorator_list), *map(_last_name, each.bases)]
            if _equality(each) or any(
                name in _COMPARED or name in _VALUES or name in found for name in names
            ):
                found.add(each.name)
    return frozenset(found)


def own_equality(
    module: ast.Module, base: ast.Module | None, known: Collection[str]
) -> Iterator[tuple[ast.ClassDef, str]]:
    """Yield the new classes that replace the equality of one with values, each with the name of that class.

    What also asks for the equality of a class of the base, by `super()` or by that class's name, is not among
    them.

    Args:
        module: the candidate's.
        base: the base's version of it.
        known: names of the base's classes whose instances are compared by their content.
    """
    old = {name for name, _ in classes_of(base)} if base else set[str]()
    for name, each in classes_of(module):
        if name in old:
            continue
        replaced = next(
            (name for name in map(_last_name, each.bases) if name in known or name in _VALUES), ""
        )
        equality = _equality(each)
        if replaced and equality is not None and (replaced in _VALUES or not _asks_for(equality, replaced)):
            yield each, replaced


def sets_equality(text: str) -> list[int]:
    """Return the lines on which a source gives a class an equality from outside, or names one as text."""
    if not any(each in text for each in _EQUALITIES):
        return []
    return [node.lineno for node in nodes_of(text.encode()) if _is_set(node)]


def _is_set(node: ast.AST) -> TypeGuard[ast.expr]:
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store()) | ast.Constant(value=str() as name):
            return name in _EQUALITIES
        case _:
            return False


def _equality(kind: ast.ClassDef) -> ast.stmt | None:
    """Return the statement that defines how instances are compared."""
    for each in kind.body:
        match each:
            case ast.FunctionDef(name=name) if name in _EQUALITIES:
                return each
            case ast.Assign(targets=[ast.Name(id=name)]) if name in _EQUALITIES:
                return each
            case _:
                continue
    return None


def _asks_for(equality: ast.stmt, replaced: str) -> bool:
    """Return True if nothing is equal unless the replaced equality says so."""
    nodes = list(ast.walk(equality))
    asks = any(isinstance(each, ast.Name) and each.id in ("super", replaced) for each in nodes)
    has_ways_round = any(
        isinstance(each, ast.Or | ast.IfExp | ast.Try)
        or (isinstance(each, ast.Constant) and each.value is True)
        for each in nodes
    )
    return asks and not has_ways_round


def _last_name(node: ast.expr) -> str:
    """Return the name of a class or decorator, without its module, arguments and parameters."""
    return ast.unparse(node).partition("(")[0].partition("[")[0].rpartition(".")[2]
