"""Finds classes of the base whose instances newly equal each other although parts of them differ."""

import ast
from collections.abc import Iterator


def weaker_equality(base: ast.Module, module: ast.Module) -> dict[str, str]:
    """Return the classes whose equality no longer compares everything, each with what it leaves out."""
    before = {each.name: each for each in ast.walk(base) if isinstance(each, ast.ClassDef)}
    found: dict[str, str] = {}
    for each in ast.walk(module):
        if isinstance(each, ast.ClassDef) and each.name in before:
            left_out = [
                *_no_longer_compared(before[each.name], each),
                *_fields_left_out(before[each.name], each),
            ]
            if left_out:
                found[each.name] = ", ".join(f"`{name}`" for name in left_out)
    return found


def _no_longer_compared(base: ast.ClassDef, other: ast.ClassDef) -> Iterator[str]:
    """Yield the attributes that the base's comparison reads and the other one's does not."""
    old, new = (_method(each, "__eq__") for each in (base, other))
    compared = list(_attributes(old)) if old else _compared_as_fields(base)
    if new is None:
        return
    # A comparison that calls something may compare the rest there.
    if _is_plain(new):
        read = set(_attributes(new))
        kept = {each for node in other.body for each in _attributes(node)} | set(_slots(other))
        yield from (each for each in dict.fromkeys(compared) if each not in read and each in kept)


def _compared_as_fields(node: ast.ClassDef) -> list[str]:
    """Return the fields of a dataclass or named tuple, which are compared unless the class says otherwise."""
    kinds = [ast.unparse(each).partition("(")[0] for each in (*node.decorator_list, *node.bases)]
    has_fields = any(each.rpartition(".")[2] in ("dataclass", "NamedTuple", "define") for each in kinds)
    return [name for name, is_compared in _fields(node) if is_compared] if has_fields else []


def _is_plain(function: ast.FunctionDef) -> bool:
    return not any(
        isinstance(each, ast.Call) and ast.unparse(each.func) not in ("isinstance", "type")
        for each in ast.walk(function)
    )


def _method(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == name), None)


def _attributes(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == "self":
            yield each.attr


def _slots(node: ast.ClassDef) -> Iterator[str]:
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield each.target.id


def _fields_left_out(base: ast.ClassDef, other: ast.ClassDef) -> Iterator[str]:
    """Yield the fields of a dataclass that are no longer compared."""
    before = dict(_fields(base))
    for name, is_compared in _fields(other):
        if not is_compared and before.get(name):
            yield name


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, bool]]:
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield each.target.id, not _is_left_out(each.value)


def _is_left_out(value: ast.expr | None) -> bool:
    if not isinstance(value, ast.Call):
        return False
    return any(
        each.arg in ("compare", "eq") and isinstance(each.value, ast.Constant) and each.value.value is False
        for each in value.keywords
    )
