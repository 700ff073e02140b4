"""Finds the global names that code assigns."""

import dis
from collections.abc import Mapping
from types import CodeType, FunctionType
from typing import Any


def assigned_globals(names: "Mapping[str, Any]") -> "set[str]":
    """Return the global names that functions and classes of a module assign."""
    waiting: list[CodeType] = []
    for value in names.values():
        parts = [value, *vars(value).values()] if isinstance(value, type) else [value]
        waiting += [each.__code__ for each in map(_unwrapped, parts) if isinstance(each, FunctionType)]
    found: set[str] = set()
    seen: set[CodeType] = set()
    while waiting:
        code = waiting.pop()
        if code not in seen:
            seen.add(code)
            stores = ("STORE_GLOBAL", "DELETE_GLOBAL")
            found.update(each.argval for each in dis.get_instructions(code) if each.opname in stores)
            waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
    return found


def _unwrapped(value: Any) -> Any:
    """Return the function below decorators that keep it, as those of fixtures do."""
    for _ in range(20):
        below = getattr(value, "__wrapped__", None) or getattr(value, "_fixture_function", None)
        if below is None:
            return value
        value = below
    return value
