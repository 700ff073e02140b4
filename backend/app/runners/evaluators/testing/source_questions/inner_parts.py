"""Finds new code that looks behind values: into closures, bound methods and the names of its callers."""

import ast
import re

from app.core.python_source import nodes_of

_PARTS = frozenset({"__closure__", "cell_contents", "__self__", "f_globals"})
"""Frames and code objects are not among them, because honest code reads them for messages and traces."""

_MENTIONED = re.compile("|".join(sorted({*_PARTS, "__class__", "__code__"})))


def inner_parts(text: str) -> frozenset[str]:
    """Return the parts by which a source looks behind values, or replaces an object's class or code."""
    if not _MENTIONED.search(text):
        return frozenset()
    found: set[str] = set()
    for node in nodes_of(text.encode()):
        match node:
            case ast.Attribute(attr=name) | ast.alias(name=name) | ast.Constant(value=str() as name) if (
                name in _PARTS
            ):
                found.add(name)
            case ast.Attribute(attr="__class__" | "__code__" as name, ctx=ast.Store()):
                found.add(name)
            case ast.Name(id="__class__", ctx=ast.Store()) | ast.FunctionDef(name="__class__"):
                found.add("__class__")
            case ast.Call(func=called, args=[_, ast.Constant(value="__class__" | "__code__" as name), _]) if (
                ast.unparse(called).endswith("setattr") or ast.unparse(called).endswith("__setattr__")
            ):
                found.add(name)
            case _:
                continue
    return frozenset(found)
