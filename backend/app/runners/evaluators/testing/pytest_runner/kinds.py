"""Tells what a value is without asking the value: a proxy would ask, or import, what it stands for."""

from types import ModuleType
from typing import Any, cast


def is_kind(value: Any, kind: Any) -> bool:
    """Return True for an instance of a class, or of one of several classes."""
    return issubclass(type(value), kind)


def names_in(value: Any) -> "dict[str, Any]":
    """Return the names of a module or class with their values; none for other values."""
    return cast("Any", vars)(value).copy() if is_kind(value, (ModuleType, type)) else {}


def plain_text(value: Any) -> str:
    """Return a text as it is stored, `""` for other values. One of the code's own kind may show another."""
    return str.__str__(value) if is_kind(value, str) else ""
