"""Writes plain values of exact built-in types as data, and rebuilds them from data.

Nothing from the wire is looked up by name beyond the tables here, and nothing is executed. A scalar that JSON
knows is written as itself. Everything else is a list that begins with a tag.
"""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

import datetime
import math
import re
import types
import uuid
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PosixPath, PurePath, PurePosixPath
from typing import Any

SCALARS: frozenset[type] = frozenset({type(None), bool, int, float, str})
_SMALL = 1 << 62


class BadDataError(Exception):
    """Data from the wire is not a value."""


def encode_scalar(value: Any) -> Any:
    """Write a value whose exact type is in `SCALARS`."""
    if type(value) is int and not -_SMALL < value < _SMALL:
        return ["I", format(value, "x")]
    return value


def _encode_moment(value: datetime.datetime) -> Any:
    if value.tzinfo is not None and type(value.tzinfo) is not datetime.timezone:
        return None
    bare = value.replace(tzinfo=None)
    zone = None if value.tzinfo is None else _ENCODERS[datetime.timezone](value.tzinfo)
    return ["datetime", bare.isoformat(), zone, value.fold]


def _encode_time(value: datetime.time) -> Any:
    return None if value.tzinfo is not None else ["time", value.isoformat()]


def _encode_zone(value: datetime.timezone) -> Any:
    offset = value.utcoffset(None)
    name = value.tzname(None)
    return ["timezone", offset.days, offset.seconds, offset.microseconds, name]


_ENCODERS: dict[type, Callable[[Any], Any]] = {
    bytes: lambda v: ["bytes", v.decode("latin-1")],
    complex: lambda v: ["complex", v.real, v.imag],
    type(...): lambda v: ["Ellipsis"],
    type(NotImplemented): lambda v: ["NotImplemented"],
    range: lambda v: ["range", *map(encode_scalar, (v.start, v.stop, v.step))],
    Decimal: lambda v: ["Decimal", str(v)],
    Fraction: lambda v: ["Fraction", encode_scalar(v.numerator), encode_scalar(v.denominator)],
    datetime.date: lambda v: ["date", v.isoformat()],
    datetime.timedelta: lambda v: ["timedelta", v.days, v.seconds, v.microseconds],
    datetime.timezone: _encode_zone,
    datetime.datetime: _encode_moment,
    datetime.time: _encode_time,
    PosixPath: lambda v: ["Path", str(v)],
    PurePosixPath: lambda v: ["PurePosixPath", str(v)],
    uuid.UUID: lambda v: ["UUID", v.hex],
    re.Pattern: lambda v: ["Pattern", v.pattern, v.flags] if isinstance(v.pattern, str) else None,
    types.SimpleNamespace: lambda v: None,
}


def encode_atom(value: Any) -> Any:
    """Write a value without parts that JSON does not know. Return None for any other value."""
    encoder = _ENCODERS.get(type(value))
    parts = encoder(value) if encoder else None
    return None if parts is None else ["x", *parts]


def decode_int(data: Any) -> int:
    """Read what `encode_scalar` wrote for an integer."""
    if type(data) is int:
        return data
    if isinstance(data, list) and data[0] == "I":
        return int(data[1], 16)
    raise BadDataError("no number")


def _decode_zone(days: int, seconds: int, microseconds: int, name: str) -> datetime.timezone:
    offset = datetime.timedelta(days, seconds, microseconds)
    plain = datetime.timezone(offset)
    return plain if plain.tzname(None) == name else datetime.timezone(offset, name)


def _decode_moment(text: str, zone: Any, fold: int) -> datetime.datetime:
    tzinfo = None if zone is None else _decode_zone(*zone[1:])
    return datetime.datetime.fromisoformat(text).replace(tzinfo=tzinfo, fold=fold)


_DECODERS: dict[str, Callable[..., Any]] = {
    "bytes": lambda text: text.encode("latin-1"),
    "complex": complex,
    "Ellipsis": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "range": lambda *parts: range(*map(decode_int, parts)),
    "Decimal": Decimal,
    "Fraction": lambda *parts: Fraction(*map(decode_int, parts)),
    "date": datetime.date.fromisoformat,
    "timedelta": datetime.timedelta,
    "timezone": _decode_zone,
    "datetime": _decode_moment,
    "time": datetime.time.fromisoformat,
    "Path": Path,
    "PurePosixPath": PurePosixPath,
    "UUID": uuid.UUID,
    "Pattern": re.compile,
}


def decode_atom(parts: "list[Any]") -> Any:
    """Read what `encode_atom` wrote, without its tag.

    Raises:
        BadDataError: it does not have that form.
    """
    try:
        return _DECODERS[parts[0]](*parts[1:])
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, re.error) as error:
        raise BadDataError(f"no value: {error}") from error


PLAIN: frozenset[type] = frozenset(
    {*SCALARS, *_ENCODERS, tuple, list, dict, set, frozenset, bytearray} - {types.SimpleNamespace}
)
"""Types whose values the interpreter itself compares."""


def is_nan(value: object) -> bool:
    """Return True if a value is NaN, which does not equal itself."""
    return type(value) is float and math.isnan(value)


# Types that may be sent by name in both directions: they are compared, called with data, and tested for.
_NAMED: "tuple[Any, ...]" = (
    *(object, bool, int, float, complex, str, bytes, bytearray, tuple, list, dict, set, frozenset, range),
    *(slice, type(None), memoryview, enumerate, zip, map, filter, reversed, property),
    *(Decimal, Fraction, datetime.date, datetime.datetime, datetime.time, datetime.timedelta),
    *(datetime.timezone, uuid.UUID, Path, PosixPath, PurePath, PurePosixPath),
)
NAMED_TYPES: dict[tuple[str, str], Any] = {(each.__module__, each.__qualname__): each for each in _NAMED}
