"""Attributes of the candidate that a test sets, and restores."""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

from .link import link

_replaced: dict[tuple[int, str], Any] = {}


def replace(owner: Any, name: str, value: Any) -> None:
    """Set an attribute of a module or class, and remember its old value."""
    link().note("the test changes the candidate's internals", hard=False)
    if (id(owner), name) not in _replaced and hasattr(owner, name):
        _replaced[id(owner), name] = getattr(owner, name)
    link().request("set", owner, name, value)


def put_back(owner: Any, name: str) -> None:
    """Delete an attribute, or restore its old value.

    A stand-in's `__dict__` holds none of its attributes, so patching tools take them for inherited ones. They
    restore an attribute by deleting the one that they have set.
    """
    if (id(owner), name) in _replaced:
        link().request("set", owner, name, _replaced.pop((id(owner), name)))
    else:
        link().request("del", owner, name)
