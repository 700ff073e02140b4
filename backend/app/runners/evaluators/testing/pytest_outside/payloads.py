"""The values in objects of classes derived from built-in types, read by those types' own methods."""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any, cast

_MUTABLE = (list, dict, set, bytearray)
PAYLOADS: tuple[type, ...] = (int, float, complex, str, bytes, tuple, frozenset, *_MUTABLE)


def payload_of(value: Any) -> Any:
    """Return the value in an object of a class derived from a built-in type, read by that type's methods.

    The class's own definitions are not used. Return a tuple for containers, of pairs for a dictionary; None
    if there is no such base.
    """
    kind = type(value)
    if kind in PAYLOADS:
        return None
    base = next((each for each in type.__dict__["__mro__"].__get__(kind) if each in PAYLOADS), None)
    return None if base is None else _OWN_MEANS[base](value)


_OWN_MEANS: dict[type, Any] = {
    int: int.__int__,
    float: float.__float__,
    complex: complex.__pos__,
    str: str.__str__,
    bytes: lambda v: bytes.__getitem__(v, slice(None)),
    tuple: lambda v: tuple.__getitem__(v, slice(None)),
    frozenset: lambda v: tuple(frozenset.__iter__(v)),
    list: lambda v: tuple(list.__iter__(v)),
    dict: lambda v: tuple(dict.items(v)),
    set: lambda v: tuple(set.__iter__(v)),
    bytearray: lambda v: bytes(bytearray.__getitem__(v, slice(None))),
}


def refresh(made: Any, base: type | None, payload: Any) -> None:
    """Give a container of a derived class the content that it has in the other process."""
    if base in _MUTABLE:
        cast("Any", base).clear(made)
        if base is list:
            list.extend(made, payload)
        elif base is dict:
            dict.update(made, payload)
        elif base is set:
            set.update(made, payload)
        else:
            bytearray.extend(made, payload)


def make(kind: Any, base: type, payload: Any) -> Any:
    """Create an instance of a class derived from a built-in type.

    Raises:
        TypeError: the payload is not a value of that type.
    """
    made = base.__new__(kind) if base in _MUTABLE else cast("Any", base).__new__(kind, payload)
    refresh(made, base, payload)
    return made
