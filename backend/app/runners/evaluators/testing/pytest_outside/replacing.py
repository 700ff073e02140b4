"""Attributes of the candidate that a test sets, and restores."""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

from .link import link

_replaced: dict[tuple[int, str], list[Any]] = {}
"""The values before each change that was not undone, by owner and name, the oldest first."""

_MOST = 100
_MISSING = object()


def replace(owner: Any, name: str, value: Any) -> None:
    """Set an attribute of a module or class, and remember its old value."""
    link().note("the test changes the candidate's internals", hard=False)
    before = _replaced.setdefault((id(owner), name), [])
    if len(before) < _MOST:
        old = getattr(owner, name, _MISSING)
        before += [] if old is _MISSING else [old]
    link().request("set", owner, name, value)


def put_back(owner: Any, name: str) -> None:
    """Delete an attribute, or restore its old value.

    A stand-in's `__dict__` holds none of its attributes, so patching tools take them for inherited ones. They
    restore an attribute by deleting the one that they have set, the last one first.
    """
    before = _replaced.get((id(owner), name))
    if before:
        link().request("set", owner, name, before.pop())
    else:
        link().request("del", owner, name)
