"""Finds what a module uses of other modules, under whatever names it imports them. Pure."""

import ast
from collections.abc import Iterator, Mapping
from typing import cast

from app.core.python_source import parse_expression

_BUILTINS = frozenset({"exec", "eval", "compile"})
_Import = ast.Import | ast.ImportFrom


def spelt_out(module: ast.Module) -> ast.Module:
    """Return a module with imported names in full: `zlib.crc32` for `c` after `from zlib import crc32 as c`.

    The given module itself changes.
    """
    nodes = list(ast.walk(module))
    names = {
        short: full
        for node in nodes
        if isinstance(node, _Import)
        for short, full in _imported(node)
        if short != full
    }
    for parent in nodes if names else ():
        for field, value in ast.iter_fields(parent):
            if isinstance(value, list):
                setattr(parent, field, [_in_full(each, names) for each in cast("list[object]", value)])
            else:
                setattr(parent, field, _in_full(value, names))
    return module


def library_uses(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the dotted names of what a module imports or uses of what it imported, each with the line.

    Built-in functions that run code belong to the module `builtins`.

    Args:
        module: with its names spelt out.
    """
    nodes = list(ast.walk(module))
    imports = [(full, node) for node in nodes if isinstance(node, _Import) for _, full in _imported(node)]
    yield from ((full, node.lineno) for full, node in imports)
    roots = {full.partition(".")[0] for full, _ in imports}
    for node in nodes:
        match node:
            case ast.Attribute() if (full := _dotted(node)) and full.partition(".")[0] in roots:
                yield full, node.lineno
            case ast.Call(func=ast.Name(id=name)) if name in _BUILTINS:
                yield f"builtins.{name}", node.lineno
            case _:
                continue


def _imported(node: _Import) -> Iterator[tuple[str, str]]:
    """Yield the names that an import sets, each with what it is in full; `import a.b` sets `a`."""
    match node:
        case ast.Import(names=imported):
            yield from ((each.asname or each.name, each.name) for each in imported)
        case ast.ImportFrom(module=str() as owner, names=imported, level=0):
            yield from ((each.asname or each.name, f"{owner}.{each.name}") for each in imported)
        case _:
            return


def _in_full(value: object, names: Mapping[str, str]) -> object:
    """Return the expression for a name that an import sets, and anything else as it is."""
    if not isinstance(value, ast.Name) or value.id not in names or not isinstance(value.ctx, ast.Load):
        return value
    full = parse_expression(names[value.id]).body
    for each in ast.walk(full):
        ast.copy_location(each, value)
    return full


def _dotted(node: ast.expr) -> str:
    """Return a name with attributes, such as `os.path.join`; empty for anything else."""
    parts = list[str]()
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
