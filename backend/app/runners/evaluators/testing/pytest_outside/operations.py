"""The operations that one process performs on its own objects for the other one."""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import copy
import importlib
import operator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .payloads import payload_of
from .shapes import FORWARDED

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop


def perform(op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Perform one operation. Its exceptions are for the side that asked.

    Raises:
        LookupError: there is no such operation.
    """
    return _OPERATIONS[op](*args, **kwargs)


def _dunder(target: Any, name: str, *args: Any) -> Any:
    if name not in FORWARDED:
        raise TypeError(f"{name} is not forwarded")
    method = getattr(type(target), name, None)
    return NotImplemented if method is None else method(target, *args)


def _call(target: Any, /, *args: Any, **kwargs: Any) -> Any:
    return target(*args, **kwargs)


def _method(target: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    return getattr(target, name)(*args, **kwargs)


_APPLIED: dict[str, Any] = {
    "iter": iter,
    "len": len,
    "getitem": operator.getitem,
    "contains": operator.contains,
}


def _apply(name: str, *args: Any) -> Any:
    return _APPLIED[name](*args)


def _public(module: Any) -> Any:
    """Return the names and values that `from module import *` imports."""
    names = getattr(module, "__all__", None)
    return [name for name in vars(module) if not name.startswith("_")] if names is None else names


def _state(target: Any) -> Any:
    """Return the state of an object: its attributes, its slots, and the value of its built-in base."""
    slots: list[tuple[str, Any]] = []
    for base in type(target).__mro__:
        for name, member in vars(base).items():
            if type(member).__name__ == "member_descriptor":
                # It is not set, or a class further down has a slot of this name, too.
                with suppress(AttributeError):
                    slots.append((name, member.__get__(target)))
    try:
        attributes = object.__getattribute__(target, "__dict__")
    except AttributeError:
        attributes = {}
    return (dict(attributes), slots, payload_of(target))


_loop: list[AbstractEventLoop] = []


def _await(awaitable: Any) -> Any:
    # To import it takes as long as all the rest of this process; few tests await.
    import asyncio  # noqa: PLC0415 - only to await

    if not _loop:
        _loop.append(asyncio.new_event_loop())
        asyncio.set_event_loop(_loop[0])

    async def run() -> Any:
        return await awaitable

    return _loop[0].run_until_complete(run())


def _import(name: str) -> Any:
    return importlib.import_module(name)


_OPERATIONS: dict[str, Any] = {
    "import": _import,
    "get": getattr,
    "set": setattr,
    "del": delattr,
    "dir": dir,
    "call": _call,
    "method": _method,
    "dunder": _dunder,
    "apply": _apply,
    "public": _public,
    "states": lambda *targets: tuple(_state(each) for each in targets),
    "await": _await,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "isinstance": lambda cls, value: isinstance(value, cls),
    "issubclass": lambda cls, value: issubclass(value, cls),
}
