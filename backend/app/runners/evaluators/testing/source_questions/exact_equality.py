"""Reads which attributes an `__eq__` compares with `==`, without anything that makes them equal before."""

import ast
from collections.abc import Iterator, Sequence

_Equation = tuple[ast.expr, ast.expr]
"""Both sides of a comparison."""

_WHOLE = frozenset({"getattr", "super", "vars", "asdict", "astuple", "hash", "str", "repr", "bytes", "id"})
"""Calls that may compare all attributes, without their names."""


def compares_exactly(function: ast.FunctionDef, owner: ast.ClassDef) -> list[str] | None:
    """Return the attributes that an `__eq__` compares with `==`, in order. None if it may compare all.

    Args:
        function: the `__eq__`.
        owner: its class, whose methods may give the compared values.
    """
    names = [each.arg for each in function.args.args]
    if len(names) != 2:
        return None
    found: list[str] = []
    for each in ast.walk(function):
        match each:
            case ast.Call(func=ast.Name(id=called)) | ast.Call(func=ast.Attribute(attr=called)):
                if called in _WHOLE:
                    return None
            case ast.Attribute(attr="__dict__"):
                return None
            case _:
                continue
    for one, other in _equations(function.body):
        attributes = _attributes_of(one, other, names, owner)
        if attributes is None:
            return None
        found += attributes
    return list(dict.fromkeys(found))


def read_by(node: ast.AST) -> Iterator[str]:
    """Yield the attributes of `self` that some code reads or sets."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == "self":
            yield each.attr


def _equations(statements: Sequence[ast.stmt]) -> Iterator[_Equation]:
    """Yield the comparisons without which nothing is equal."""
    for each in statements:
        match each:
            case ast.Return(value=ast.expr() as value) | ast.Assign(value=value):
                yield from _needed(value, holds=True)
            case ast.If(test=test, body=[ast.Return(value=ast.Constant(value=False))]):
                yield from _needed(test, holds=False)
                yield from _equations(each.orelse)
            case _:
                for name in ("body", "orelse", "handlers", "finalbody"):
                    yield from _equations(getattr(each, name, ()))


def _needed(value: ast.expr, *, holds: bool) -> Iterator[_Equation]:
    """Yield the comparisons that decide a condition alone.

    Args:
        value: the condition.
        holds: whether it holds for equal objects, or for different ones.
    """
    together = ast.And if holds else ast.Or
    match value:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as sign], comparators=[right]):
            if isinstance(sign, ast.Eq) is holds:
                yield left, right
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _needed(operand, holds=not holds)
        case ast.BoolOp(op=joined, values=values):
            # An object equals itself, and none of another kind. Another alternative may make anything equal.
            parts = [each for each in values if not _is_about_kind(each)]
            if isinstance(joined, together) or len(parts) == 1:
                for each in parts:
                    yield from _needed(each, holds=holds)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _needed(body, holds=holds)
            yield from _needed(orelse, holds=holds)
        case _:
            return


def _is_about_kind(value: ast.expr) -> bool:
    match value:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_about_kind(operand)
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
            return True
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass" | "hasattr")):
            return True
        case _:
            return False


def _attributes_of(one: ast.expr, other: ast.expr, names: list[str], owner: ast.ClassDef) -> list[str] | None:
    """Return the attributes in an equation whose sides are alike. None if it may compare all."""
    pairs = [(one, other)]
    found: list[str] = []
    while pairs:
        left, right = pairs.pop(0)
        match left, right:
            case (ast.Tuple(elts=ones), ast.Tuple(elts=others)) | (
                ast.List(elts=ones),
                ast.List(elts=others),
            ):
                pairs += zip(ones, others, strict=False)
            case ast.Attribute(ast.Name(id=a), attr), ast.Attribute(ast.Name(id=b), same) if attr == same:
                found += [attr] if {a, b} == set(names) else []
            case ast.Call(ast.Attribute(ast.Name(id=a), attr)), ast.Call(
                ast.Attribute(ast.Name(id=b), same)
            ) if attr == same and {a, b} == set(names):
                given = _given_by(attr, owner)
                if given is None:
                    return None
                found += given
            case _:
                continue
    return found


def _given_by(name: str, owner: ast.ClassDef) -> list[str] | None:
    """Return the attributes that a method returns as they are. None for a method of another class."""
    method = next(
        (each for each in owner.body if isinstance(each, ast.FunctionDef) and each.name == name), None
    )
    if method is None:
        return None
    found: list[str] = []
    for each in ast.walk(method):
        if isinstance(each, ast.Return) and each.value is not None:
            values = each.value.elts if isinstance(each.value, ast.Tuple | ast.List) else [each.value]
            found += [one.attr for one in values if isinstance(one, ast.Attribute)]
    return found
