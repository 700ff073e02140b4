"""Finds classes of the base whose instances newly equal each other although parts of them differ."""

import ast
from collections.abc import Iterator

from app.runners.evaluators.testing.source_questions.exact_equality import compares_exactly, read_by


def weaker_equality(base: ast.Module, module: ast.Module) -> dict[str, str]:
    """Return the classes whose equality no longer compares everything, each with what it leaves out.

    An attribute that was compared with `==` and is now only read, as in a comparison with a tolerance, is
    among them.
    """
    before = {each.name: each for each in ast.walk(base) if isinstance(each, ast.ClassDef)}
    found: dict[str, str] = {}
    for each in ast.walk(module):
        if isinstance(each, ast.ClassDef) and each.name in before:
            left_out = [
                *_no_longer_compared(before[each.name], each),
                *(f"`{name}`" for name in _fields_left_out(before[each.name], each)),
            ]
            if left_out:
                found[each.name] = ", ".join(left_out)
    return found


def _no_longer_compared(base: ast.ClassDef, other: ast.ClassDef) -> Iterator[str]:
    """Yield the attributes that the base compares with `==` and the other class does not."""
    old, new = (_method(each, "__eq__") for each in (base, other))
    if new is None or (old is not None and ast.dump(old) == ast.dump(new)):
        return
    compared = compares_exactly(old, base) if old else _compared_as_fields(base)
    still = compares_exactly(new, other)
    if compared is None or still is None:
        return
    read = set(read_by(new))
    kept = {each for node in other.body for each in read_by(node)} | set(_slots(other))
    for each in compared:
        if each not in still and each in kept:
            yield f"`{each}` with `==`" if each in read else f"`{each}`"


def _compared_as_fields(node: ast.ClassDef) -> list[str]:
    """Return the fields of a dataclass or named tuple, which are compared unless the class says otherwise."""
    kinds = [ast.unparse(each).partition("(")[0] for each in (*node.decorator_list, *node.bases)]
    has_fields = any(each.rpartition(".")[2] in ("dataclass", "NamedTuple", "define") for each in kinds)
    return [name for name, is_compared in _fields(node) if is_compared] if has_fields else []


def _method(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == name), None)


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
