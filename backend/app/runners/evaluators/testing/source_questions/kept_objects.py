"""Finds classes of the base that newly keep every object that is made, outside of these objects."""

import ast
from collections.abc import Iterator

_CONSTRUCTORS = ("__init__", "__new__", "__post_init__")
_KEEP = frozenset(
    {
        *("append", "appendleft", "add", "insert", "push", "put", "put_nowait", "register", "__setitem__"),
        *("extend", "extendleft", "update", "setdefault", "finalize", "ref"),
    }
)
"""Methods that keep their arguments. Others often get the object to make a part of it: `menus.Menu(self)`."""

_OWN_METHODS_OF = frozenset({"list", "dict", "set"})
"""Classes whose methods are also called with the object, as in `list.extend(self, others)`."""


def keeping_classes(base: ast.Module, module: ast.Module) -> dict[str, int]:
    """Return the classes whose constructor newly puts each object elsewhere, with the line where it does."""
    before = {each.name: each for each in ast.walk(base) if isinstance(each, ast.ClassDef)}
    found: dict[str, int] = {}
    for each in ast.walk(module):
        if isinstance(each, ast.ClassDef) and each.name in before:
            line = next(_kept(each), None)
            if line is not None and next(_kept(before[each.name]), None) is None:
                found[each.name] = line
    return found


def _kept(kind: ast.ClassDef) -> Iterator[int]:
    for each in kind.body:
        if isinstance(each, ast.FunctionDef) and each.name in _CONSTRUCTORS:
            yield from _kept_by(each)


def _kept_by(constructor: ast.FunctionDef) -> Iterator[int]:
    """Yield the lines that put the new object into something that is not part of it."""
    objects = _names_of_object(constructor)
    shared = {name for each in ast.walk(constructor) if isinstance(each, ast.Global) for name in each.names}
    own = objects | {each.arg for each in ast.walk(constructor.args) if isinstance(each, ast.arg)}
    for each in ast.walk(constructor):
        match each:
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=given) if name in _KEEP:
                is_own = isinstance(owner, ast.Name) and owner.id in _OWN_METHODS_OF
                values = given[1:] if is_own else given
            case ast.Assign(targets=[ast.Attribute(value=owner) | ast.Subscript(value=owner)], value=value):
                values = [value]
            case ast.Assign(targets=[ast.Name(id=name) as owner], value=value) if name in shared:
                values = [value]
            case _:
                continue
        is_elsewhere = (name := _first_name(owner)) is not None and name not in own
        if is_elsewhere and any(isinstance(one, ast.Name) and one.id in objects for one in values):
            yield each.lineno


def _names_of_object(constructor: ast.FunctionDef) -> set[str]:
    if constructor.name != "__new__":
        return {each.arg for each in constructor.args.args[:1]}
    return {
        target.id
        for each in ast.walk(constructor)
        if isinstance(each, ast.Assign) and "__new__" in ast.unparse(each.value)
        for target in each.targets
        if isinstance(target, ast.Name)
    }


def _first_name(node: ast.expr) -> str | None:
    """Return the variable with which an expression begins, as `names` of `names.all[0]`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("type", "super"):
        return "type" if ast.unparse(node.func) == "type" else None
    return node.id if isinstance(node, ast.Name) else None
