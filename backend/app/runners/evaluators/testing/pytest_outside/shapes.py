"""What is known of the other process's classes: their names, operators and built-in bases."""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

from .payloads import PAYLOADS

COMPARISONS = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})
_BINARY = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("lshift", "rshift", "and", "xor", "or"),
)
ARITHMETIC = frozenset(f"__{prefix}{name}__" for name in _BINARY for prefix in ("", "r", "i"))
FORWARDED = frozenset(
    (
        *COMPARISONS,
        *ARITHMETIC,
        *(
            "__len__",
            "__length_hint__",
            "__iter__",
            "__next__",
            "__reversed__",
            "__contains__",
            "__getitem__",
        ),
        *("__setitem__", "__delitem__", "__missing__", "__call__", "__hash__", "__bool__", "__int__"),
        *("__float__", "__complex__", "__index__", "__round__", "__trunc__", "__floor__", "__ceil__"),
        *("__neg__", "__pos__", "__abs__", "__invert__", "__enter__", "__exit__", "__aenter__", "__aexit__"),
        *(
            "__aiter__",
            "__anext__",
            "__await__",
            "__repr__",
            "__str__",
            "__format__",
            "__bytes__",
            "__fspath__",
        ),
    )
)


PROBED = frozenset({"_mock_name", "__wrapped__", "__test__", "__bases__"})
"""Attributes that pytest looks for on every object in a test's module, and that hardly any object has."""


class Shape:
    """What is known of a mirrored class.

    Attributes:
        names: attributes that the classes of the other process define themselves.
        native: the built-in type of the value that an instance carries; None if it carries none.
        decides: whether the other process customises `isinstance`.
        plain: whether it has no attributes except those in `names` and those of every class.
    """

    __slots__ = ("decides", "names", "native", "operators", "plain")

    def __init__(self, names: frozenset[str], native: type | None, *, decides: bool, plain: bool) -> None:
        self.names = names
        self.native = native
        self.decides = decides
        self.plain = plain
        self.operators = names & FORWARDED


_shapes: dict[type, Shape] = {}


def shape_of(kind: type) -> Shape | None:
    """Return what is known of a mirrored class, or None for every other class."""
    return _shapes.get(kind)


def keep_shape(kind: type, names: frozenset[str], description: dict[str, Any]) -> None:
    """Remember what is known of a class that was mirrored."""
    decides, plain = bool(description["decides"]), bool(description["plain"])
    _shapes[kind] = Shape(names, _native_base(kind), decides=decides, plain=plain)


def _native_base(kind: type) -> type | None:
    found = next((each for each in kind.__mro__ if each in PAYLOADS), None)
    return BaseException if issubclass(kind, BaseException) else found


def describe(kind: type) -> dict[str, Any]:
    """Return what `mirror` needs to know of a class of this process, except its bases."""
    own = type.__dict__["__dict__"].__get__(kind)
    doc = own.get("__doc__")
    return {
        "name": type.__dict__["__name__"].__get__(kind),
        "module": str(own.get("__module__", "builtins")),
        "qualname": type.__dict__["__qualname__"].__get__(kind),
        "doc": doc if type(doc) is str else None,
        "names": [name for name in own if type(name) is str],
        "operators": [name for name in own if name in FORWARDED and own[name] is not None],
        "without": [name for name in own if name in FORWARDED and own[name] is None],
        "decides": type(kind).__instancecheck__ is not type.__instancecheck__,
        "plain": type(kind) is type,
    }
