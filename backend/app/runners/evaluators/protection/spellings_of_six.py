"""Writes calls and names of `six` as what they are in Python 3. Pure."""

import ast

_TYPES = {"text_type": "str", "string_types": "str", "binary_type": "bytes", "integer_types": "int"}
_VIEWS = {"iteritems": "items", "iterkeys": "keys", "itervalues": "values"}
_MOVED = frozenset({"filter", "input", "map", "range", "zip"})


def name_of_six(node: ast.Attribute) -> ast.Name | None:
    """Return `str` for `six.text_type` and `range` for `six.moves.range`; None for other attributes."""
    match node.value:
        case ast.Name("six") if node.attr in _TYPES:
            return ast.Name(_TYPES[node.attr], node.ctx)
        case ast.Attribute(ast.Name("six"), "moves") if node.attr in _MOVED:
            return ast.Name(node.attr, node.ctx)
        case _:
            return None


def call_of_six(node: ast.Call) -> ast.expr | None:
    """Return `a.items()` for `six.iteritems(a)`, literals for `six.u` and `six.b`, None for others."""
    match node.func, node.args, node.keywords:
        case ast.Attribute(ast.Name("six"), name), [mapping], [] if name in _VIEWS:
            return ast.Call(ast.Attribute(mapping, _VIEWS[name], ast.Load()), [], [])
        case ast.Attribute(ast.Name("six"), "u"), [ast.Constant(str(text))], []:
            return ast.Constant(text)
        case ast.Attribute(ast.Name("six"), "b"), [ast.Constant(str(text))], [] if text.isascii():
            return ast.Constant(text.encode("ascii"))
        case _:
            return None
