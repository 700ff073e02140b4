"""Reads the arguments of `setup()` in a setup.py without running it."""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard, cast

from app.core.python_source import parse_module
from app.workspaces.environments.reading import read_text

_MAX_DEPTH = 20
_MOST_VALUES = 10_000
"""Limit on the values of one list or table, because a few lines of code can double one many times."""

_LONGEST_TEXT = 100_000
_LISTS = frozenset({"list", "tuple", "sorted", "set"})
_FIELD = re.compile(r"\{(\w*)\}")
"""A field of a format without attributes, conversion or width."""


def setup_arguments(tree: Path) -> Mapping[str, Any]:
    """Return those arguments of `setup()` that follow from the text of setup.py. Nothing is run.

    Lists and tables of literal values count, also if the file puts them together: `EXTRAS["tests"] = [...]`,
    `+`, `+=`, `append`, `extend`, `update`, `dict(...)` and `setup(**arguments)`. So do texts, also those of
    `+`, `%`, `format`, `os.path.join` and f-strings. Statements in functions
    and branches do not count, except below `if __name__ == "__main__":` and `if has_setuptools:`, and except
    for `extras_require`. Values that are not known are left out.

    Raises:
        DeclarationError: the file cannot be read.
    """
    try:
        module = parse_module(read_text(tree, "setup.py") or "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    names = _Names()
    for statement in module.body:
        for each in statement.body if _always_runs(statement) else (statement,):
            names.take(each)
    call = setup_call(module)
    return {**_extras_inside(module, names), **names.keywords(call)} if call else {}


def setup_call(module: ast.Module) -> ast.Call | None:
    """Return the first call of `setup()`, in any module or function."""
    nodes = ast.walk(module)
    return next((each for each in nodes if isinstance(each, ast.Call) and _is_setup(each.func)), None)


def _extras_inside(module: ast.Module, names: "_Names") -> dict[str, Any]:
    """Return the extras that a function or branch names, as `extras_require = {...}` above `setup(**kwargs)`.

    They are optional, so those of another branch do no harm.
    """
    for node in ast.walk(module):
        match node:
            case ast.Assign(targets=[ast.Name(id="extras_require" as name)], value=ast.Dict() as extras):
                return {name: names.value(extras)}
            case _:
                continue
    return {}


def _always_runs(statement: ast.stmt) -> TypeGuard[ast.If]:
    if not isinstance(statement, ast.If):
        return False
    has_setuptools = isinstance(statement.test, ast.Name) and "setuptools" in statement.test.id.lower()
    return has_setuptools or ast.unparse(statement.test) == "__name__ == '__main__'"


def _is_setup(function: ast.expr) -> bool:
    return (isinstance(function, ast.Name) and function.id == "setup") or (
        isinstance(function, ast.Attribute) and function.attr == "setup"
    )


class _Names:
    """The names of a module with a known value: a literal, or a list or table of such values."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def take(self, statement: ast.stmt) -> None:
        """Follow one statement, if it gives a name or a part of its value a known value."""
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, self.value(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self.value(value))
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
                self._assign(statement.target, _sum(self._known.get(name), self.value(value)))
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=method), args=[given])):
                _change(self.value(owner), method, self.value(given))
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="update"), args=[]) as call):
                _change(self.value(owner), "update", self.keywords(call))
            case _:
                pass

    def keywords(self, call: ast.Call) -> dict[str, Any]:
        """Return the known values of a call's keyword arguments."""
        found: dict[str, Any] = {}
        for word in call.keywords:
            value = self.value(word.value)
            if word.arg is None:
                found |= value if isinstance(value, dict) else {}
            elif value is not None:
                found[word.arg] = value
        return found

    def value(self, node: ast.expr, depth: int = 0) -> Any:
        """Return the value of an expression, or None. Lists and tables leave out what is not known."""
        inner = depth + 1
        if depth > _MAX_DEPTH:
            return None
        match node:
            case ast.Name(id=name):
                return self._known.get(name)
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return self._items(items, inner)
            case ast.Dict():
                return self._table(node, inner)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _sum(self.value(left, inner), self.value(right, inner))
            case ast.Subscript(value=owner, slice=ast.Constant(value=str() as key)):
                return _item(self.value(owner, inner), key)
            case ast.Call(func=ast.Name(id=name)):
                return self._made(name, node, inner)
            case _:
                return self._put_together(node, inner)

    def _put_together(self, node: ast.expr, inner: int) -> Any:
        """Return the value of a literal, or of an expression that gives a text."""
        match node:
            case ast.BinOp(left=left, op=ast.Mod(), right=right):
                return _by_percent(self.value(left, inner), self.value(right, inner))
            case ast.JoinedStr(values=parts):
                return self._joined(parts, inner)
            case ast.Call(func=ast.Attribute(value=owner, attr="format"), args=given):
                table = {str(place): self.value(each, inner) for place, each in enumerate(given)}
                return _formatted(self.value(owner, inner), table | self.keywords(node))
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="path"), attr="join"), args=given):
                return _text("/".join, [self.value(each, inner) for each in given])
            case _:
                return _literal(node)

    def _joined(self, parts: Sequence[ast.expr], depth: int) -> str | None:
        """Return an f-string without conversions and widths."""
        values = [
            self.value(each.value, depth)
            if isinstance(each, ast.FormattedValue) and each.conversion == -1 and each.format_spec is None
            else _literal(each)
            for each in parts
        ]
        return _text("".join, values)

    def _made(self, name: str, call: ast.Call, depth: int) -> Any:
        if name == "dict" and not call.args:
            return self.keywords(call)
        is_list = name in _LISTS and len(call.args) == 1 and not call.keywords
        return self.value(call.args[0], depth) if is_list else None

    def _assign(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(id=name) if value is not None:
                self._known[name] = value
            case ast.Subscript(value=owner, slice=ast.Constant(value=str() as key)) if value is not None:
                table = self.value(owner)
                if isinstance(table, dict) and len(cast("dict[str, Any]", table)) < _MOST_VALUES:
                    table[key] = value
            case _:
                pass

    def _items(self, nodes: Sequence[ast.expr], depth: int) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            value = self.value(node.value if isinstance(node, ast.Starred) else node, depth)
            if not isinstance(node, ast.Starred):
                found += [] if value is None else [value]
            elif isinstance(value, list):
                found += cast("list[Any]", value)
        return found[:_MOST_VALUES]

    def _table(self, node: ast.Dict, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, each in zip(node.keys, node.values, strict=True):
            value = self.value(each, depth)
            if key is None:
                found |= value if isinstance(value, dict) else {}
            elif isinstance(key, ast.Constant) and value is not None:
                found[str(key.value)] = value
        return found


def _item(owner: Any, key: str) -> Any:
    return cast("dict[str, Any]", owner).get(key) if isinstance(owner, dict) else None


def _text(join: Callable[[list[str]], str], parts: Sequence[Any]) -> str | None:
    """Return the parts as one text, or None if one of them is not known or the text is long."""
    known = [each for each in parts if isinstance(each, str)]
    is_short = sum(map(len, known)) <= _LONGEST_TEXT
    return join(known) if len(known) == len(parts) and is_short else None


def _formatted(form: Any, values: Mapping[str, Any]) -> str | None:
    """Return what `form.format(...)` gives, or None if a value is not known, or if it has other fields."""
    if not isinstance(form, str) or _FIELD.sub("", form).count("{") or _FIELD.sub("", form).count("}"):
        return None
    texts, names = _FIELD.split(form)[::2], _FIELD.split(form)[1::2]
    wanted = [values.get(name or str(place)) for place, name in enumerate(names)]
    return _text("".join, [each for pair in zip(texts, [*wanted, ""], strict=True) for each in pair])


def _by_percent(form: Any, value: Any) -> str | None:
    """Return what `form % value` gives, if all fields are `%s`."""
    if not isinstance(form, str):
        return None
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    texts = form.split("%s")
    if len(texts) != len(values) + 1 or any("%" in each for each in texts):
        return None
    return _text("".join, [each for pair in zip(texts, [*values, ""], strict=True) for each in pair])


def _sum(one: Any, other: Any) -> Any:
    """Return two texts or lists as one, without changing either. Of lists, what is not known is left out."""
    if isinstance(one, str) and isinstance(other, str):
        return _text("".join, [one, other])
    lists = [cast("list[Any]", each) for each in (one, other) if isinstance(each, list)]
    return [each for part in lists for each in part][:_MOST_VALUES] if lists else None


def _change(owner: Any, method: str, value: Any) -> None:
    """Change a known list or table as a method does. Other methods, and what is not known, change nothing."""
    match owner, method, value:
        case list(), "append", _ if value is not None and len(cast("list[Any]", owner)) < _MOST_VALUES:
            cast("list[Any]", owner).append(value)
        case list(), "extend", list() if len(cast("list[Any]", owner)) < _MOST_VALUES:
            cast("list[Any]", owner).extend(cast("list[Any]", value)[:_MOST_VALUES])
        case dict(), "update", dict():
            cast("dict[str, Any]", owner).update(cast("dict[str, Any]", value))
        case _:
            pass


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
