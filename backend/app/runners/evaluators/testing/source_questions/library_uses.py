"""Finds what a module uses of other modules, under whatever names it imports them. Pure."""

import ast
from collections.abc import Iterator

_BUILTINS = frozenset({"exec", "eval", "compile"})


def library_uses(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the dotted names of what a module imports or uses of what it imported, each with the line.

    Built-in functions that run code belong to the module `builtins`.
    """
    names = dict[str, str]()
    nodes = list(ast.walk(module))
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported = dict(_imported(node))
            names |= imported
            yield from ((full, node.lineno) for full in imported.values())
    for node in nodes:
        match node:
            case ast.Attribute() if full := _full(node, names):
                yield full, node.lineno
            case ast.Name(id=name, ctx=ast.Load()) if name in names:
                yield names[name], node.lineno
            case ast.Call(func=ast.Name(id=name)) if name in _BUILTINS:
                yield f"builtins.{name}", node.lineno
            case _:
                continue


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Import(names=imported):
            for each in imported:
                first = each.name.partition(".")[0]
                yield (each.asname, each.name) if each.asname else (first, first)
                yield each.name, each.name
        case ast.ImportFrom(module=str() as owner, names=imported, level=0):
            yield from ((each.asname or each.name, f"{owner}.{each.name}") for each in imported)
        case _:
            return


def _full(node: ast.Attribute, names: dict[str, str]) -> str:
    """Return the full name of a chain of attributes; empty if it does not begin with an imported name."""
    parts = list[str]()
    owner: ast.expr = node
    while isinstance(owner, ast.Attribute):
        parts.append(owner.attr)
        owner = owner.value
    if not isinstance(owner, ast.Name) or owner.id not in names:
        return ""
    return ".".join([names[owner.id], *reversed(parts)])
