"""Resolves the names under which a module uses parts of `typing`."""

import ast
from collections.abc import Iterator, Mapping

_MODULES = ("typing", "typing_extensions")


def typing_names(module: ast.Module) -> Mapping[str, str]:
    """Return what each name of a module means in `typing`: `{"c": "cast", "t.Any": "Any", "J": "Any"}`.

    Names that are set to `Any` count as `Any`.
    """
    found: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module in _MODULES:
            found |= {each.asname or each.name: each.name for each in node.names}
        elif isinstance(node, ast.Import):
            places = [each.asname or each.name for each in node.names if each.name in _MODULES]
            found |= {f"{place}.{name}": name for place in places for name in ("Any", "cast")}
    for name, value in _aliases(module):
        if found.get(value) == "Any":
            found[name] = "Any"
    return found


def _aliases(module: ast.Module) -> Iterator[tuple[str, str]]:
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() | ast.Attribute() as value):
                yield name, ast.unparse(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Name() | ast.Attribute() as value):
                yield name, ast.unparse(value)
            case _:
                continue
