"""Tells which values say all about themselves, and shows them as texts."""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .payloads import payload_of

_SCALARS = frozenset(
    {*(int, float, complex, str, bytes, bool, type(None)), *(Decimal, Fraction, date, datetime, timedelta)}
)
_SEQUENCES = (list, tuple, set, frozenset)
_MOST_CHARS = 400
_DEEPEST = 4
NOT_PLAIN = object()
"""What `plain_copy` returns for any other value."""


class ObjectText(str):
    """What an object says of itself, by `repr`."""

    __slots__ = ()


def is_plain(value: Any) -> bool:
    """Return True for numbers, texts, times, and collections of them that are not large."""
    return plain_copy(value, natives=False) is not NOT_PLAIN


def plain_copy(value: Any, depth: int = 0, *, natives: bool = True) -> Any:
    """Return a copy of a plain value, or `NOT_PLAIN`.

    Args:
        value: anything.
        depth: how many collections it is in.
        natives: whether objects of classes derived from built-in types count, as those of named tuples. Their
            copies are of the built-in types.
    """
    kind = type(value)
    if kind in _SCALARS:
        return NOT_PLAIN if kind in (str, bytes) and len(value) > _MOST_CHARS else value
    if kind is not dict and kind not in _SEQUENCES:
        native = payload_of(value) if natives else None
        return NOT_PLAIN if native is None else plain_copy(native, depth)
    if depth >= _DEEPEST or len(value) > _MOST_CHARS:
        return NOT_PLAIN
    items = value.items() if kind is dict else value
    parts = [plain_copy(each, depth + (kind is not dict), natives=natives) for each in items]
    return NOT_PLAIN if any(each is NOT_PLAIN for each in parts) else kind(parts)


def shown(value: Any) -> str:
    """Return a plain value as a text, the same for equal values."""
    if type(value) is ObjectText:
        return str(value)
    if type(value) in (set, frozenset):
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    return repr(value)
