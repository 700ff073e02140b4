"""Functions, generators and coroutines that run in the other process and are real ones here."""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import inspect
import types
from collections.abc import Coroutine, Generator
from typing import Any

from .link import PeerLink
from .shapes import PROBED
from .values import SCALARS


def flag_of(value: Any) -> Any:
    """Return an object's kind, if it matters to the other side."""
    kind = type(value)
    if kind is types.CoroutineType:
        return "coroutine"
    if kind is types.GeneratorType:
        return "generator"
    if issubclass(kind, types.ModuleType):
        return ["module", str(types.ModuleType.__getattribute__(value, "__name__"))]
    if kind is types.FunctionType and PROBED.isdisjoint(vars(value)):
        return "bare"
    return None


async def _run(link: PeerLink, number: Any) -> Any:
    return link.request("await", number)


def running(link: PeerLink, number: Any) -> Coroutine[Any, Any, Any]:
    """Return a coroutine that runs one of the other process to its end."""
    link.note("a coroutine of the candidate runs to its end by itself", hard=False)
    return _run(link, number)


def pulled(link: PeerLink, number: Any) -> Generator[Any, Any, Any]:
    """Return a generator that pulls values from one of the other process."""
    step: tuple[Any, ...] = ("__next__",)
    while True:
        try:
            value = link.request("method", number, *step)
        except StopIteration as stop:
            return stop.value
        try:
            sent = yield value
        except GeneratorExit:
            link.request("method", number, "close")
            raise
        except BaseException as error:  # noqa: BLE001 - whatever is thrown in is thrown in there
            step = ("throw", error)
        else:
            step = ("__next__",) if sent is None else ("send", sent)


def describe_function(function: types.FunctionType) -> Any:
    """Return a function's properties besides its calls: names, text, parameters, and plain defaults."""
    try:
        parameters = [
            (each.name, int(each.kind), each.default is not each.empty, _plain(each.default))
            for each in inspect.signature(function).parameters.values()
        ]
    except (TypeError, ValueError):
        parameters = None
    names = (function.__name__, function.__qualname__, function.__module__, _plain(function.__doc__))
    return (names, parameters)


def _plain(value: Any) -> Any:
    return value if type(value) in SCALARS else None


def lent(link: PeerLink, number: Any, description: Any) -> types.FunctionType:
    """Return a function that calls one of the other process, and looks like it."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return link.request("call", number, *args, **kwargs)

    names, parameters = description
    call.__name__, call.__qualname__, call.__module__, call.__doc__ = names
    if parameters is not None:
        empty = inspect.Parameter.empty
        call.__signature__ = inspect.Signature(  # pyright: ignore[reportFunctionMemberAccess]
            [
                inspect.Parameter(name, _KINDS[kind], default=default if has_default else empty)
                for name, kind, has_default, default in parameters
            ]
        )
    return call


_KINDS = {int(each): each for each in type(inspect.Parameter.KEYWORD_ONLY)}
