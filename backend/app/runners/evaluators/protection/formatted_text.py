"""Writes formatted texts as f-strings, so that the three ways of formatting compare as equal. Pure.

`"%s is %r" % (name, value)`, `"{} is {!r}".format(name, value)` and `f"{name} is {value!r}"` become the last
one. Tools such as pyupgrade convert between them. Formats that have no such counterpart stay as they are.
"""

import ast
import re
from collections.abc import Sequence
from string import Formatter

_FIELD = re.compile(r"%(.)", re.DOTALL)
_CONVERSIONS = {"s": -1, "r": ord("r"), "a": ord("a")}


def of_percent(node: ast.BinOp) -> ast.expr:
    """Return `text % values` as an f-string, or the node itself if that is not possible."""
    if not (isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)):
        return node
    text, given = node.left.value, node.right
    if not isinstance(text, str) or isinstance(given, ast.Dict):
        return node
    values = list(given.elts if isinstance(given, ast.Tuple) else [given])
    parts: list[ast.expr] = []
    position = 0
    for match in _FIELD.finditer(text):
        parts.append(ast.Constant(text[position : match.start()]))
        position = match.end()
        if match[1] == "%":
            parts.append(ast.Constant("%"))
        elif match[1] in _CONVERSIONS and values:
            parts.append(ast.FormattedValue(values.pop(0), _CONVERSIONS[match[1]]))
        else:
            return node
    parts.append(ast.Constant(text[position:]))
    return node if values or _has_star(parts) else _joined(parts)


def of_format(node: ast.Call) -> ast.expr:
    """Return `text.format(...)` as an f-string, or the node itself if that is not possible."""
    text = _formatted_text(node)
    if text is None:
        return node
    named = {each.arg: each.value for each in node.keywords}
    numbered = list(node.args)
    parts: list[ast.expr] = []
    used = 0
    try:
        for before, name, spec, conversion in Formatter().parse(text):
            parts.append(ast.Constant(before))
            if name is None:
                continue
            key = name or str(used)
            used += not name
            value = numbered[int(key)] if key.isdecimal() else named[key]
            if spec and "{" in spec:
                return node
            wanted = ast.JoinedStr([ast.Constant(spec)]) if spec else None
            parts.append(ast.FormattedValue(value, _CONVERSIONS[conversion or "s"], wanted))
    except (ValueError, LookupError):
        return node
    return _joined(parts)


def _formatted_text(node: ast.Call) -> str | None:
    """Return the text of `"text".format(...)`; None for any other call, and for one with a star."""
    function = node.func
    if not (isinstance(function, ast.Attribute) and function.attr == "format"):
        return None
    if not isinstance(function.value, ast.Constant) or not isinstance(function.value.value, str):
        return None
    is_plain = not _has_star(node.args) and all(each.arg for each in node.keywords)
    return function.value.value if is_plain else None


def _has_star(nodes: Sequence[ast.expr]) -> bool:
    values = (each.value if isinstance(each, ast.FormattedValue) else each for each in nodes)
    return any(isinstance(each, ast.Starred) for each in values)


def _joined(parts: Sequence[ast.expr]) -> ast.JoinedStr:
    """Return an f-string with the parts, as the parser would: no empty texts, and no two in a row."""
    joined: list[ast.expr] = []
    for each in parts:
        last = joined[-1] if joined else None
        if not isinstance(each, ast.Constant):
            joined.append(each)
        elif isinstance(last, ast.Constant):
            joined[-1] = ast.Constant(f"{last.value}{each.value}")
        elif each.value:
            joined.append(each)
    return ast.JoinedStr(joined)
