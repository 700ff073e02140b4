"""Writes exceptions as data and rebuilds them, with arguments, attributes and cause."""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import os
import socket
import sys
import sysconfig
import types
from collections.abc import Callable
from typing import Any

from .shapes import shape_of
from .standard_modules import STANDARD_MODULES
from .values import PLAIN

_OF_TOOLS = (
    *("pytest.", "_pytest.", "pytest_", "pluggy.", "hypothesis.", "nose.", "nose2.", "testtools."),
    "twisted.trial.",
)
_PACKAGES = tuple({os.path.join(sysconfig.get_path(kind), "") for kind in ("purelib", "platlib")})
_MEMBERS = ("name", "path", "filename", "filename2")
_CHAIN = 5

_OF_PLACES = (
    *(FileNotFoundError, FileExistsError, PermissionError, NotADirectoryError, IsADirectoryError),
    *(ConnectionError, TimeoutError, ChildProcessError, ProcessLookupError, socket.gaierror, socket.herror),
    io.UnsupportedOperation,
)
_OF_MACHINE = frozenset(
    {
        *(errno.EROFS, errno.EXDEV, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOTEMPTY),
        *(errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.ENOTCONN),
        *(errno.ENOTTY, errno.ENXIO, errno.ENODEV, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF),
        *(errno.ENOMEM, errno.EAGAIN, errno.EBUSY, errno.ETXTBSY, errno.ENOLCK, errno.ELOOP),
        *(errno.ESPIPE, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT, errno.ENETDOWN, errno.ENAMETOOLONG),
    }
)

BUILTIN: dict[str, type[BaseException]] = {
    name: value
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}


def encode(error: BaseException, write: Callable[[Any], Any]) -> list[Any]:
    """Write arguments, attributes and causes of an exception."""
    args = BaseException.__dict__["args"].__get__(error)
    attributes = dict(BaseException.__getattribute__(error, "__dict__"))
    plain = {name: each for name, each in attributes.items() if type(each) in PLAIN}
    members = {
        name: value
        for name in _MEMBERS
        if isinstance(error, (OSError, ImportError, NameError, AttributeError))
        and type(value := getattr(error, name, None)) is str
    }
    causes = [error.__cause__, error.__context__]
    return [
        write(args),
        write(tuple((str(name), value) for name, value in plain.items())),
        write(tuple(members.items())),
        [None if each is None or _depth(each) > _CHAIN else write(each) for each in causes],
        bool(error.__suppress_context__),
    ]


def _depth(error: BaseException | None) -> int:
    seen = 0
    while error is not None and seen <= _CHAIN:
        error = error.__cause__ or error.__context__
        seen += 1
    return seen


def known_class(description: dict[str, Any]) -> type | None:
    """Return the exception with that name of the standard library or an installed package, if loaded here.

    Those of tools for tests are left out, because raising one may end or skip a test, or reject its input.
    """
    module, name = description["module"], description["qualname"]
    place = sys.modules.get(module)
    if type(place) is not types.ModuleType or not (_is_standard(module) or _is_installed(place)):
        return None
    found: object = vars(place).get(name)
    root = BaseException if _is_standard(module) else Exception
    if isinstance(found, type) and issubclass(found, root) and found.__module__ == module:
        return found
    return None


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in STANDARD_MODULES


def _is_installed(module: types.ModuleType) -> bool:
    file = vars(module).get("__file__")
    is_tool = f"{module.__name__}.".startswith(_OF_TOOLS)
    return type(file) is str and file.startswith(_PACKAGES) and not is_tool


def build(kind: Any, args: tuple[Any, ...]) -> BaseException:
    """Create an exception of a class. No class of the other process is called, as its code is not here.

    Raises:
        TypeError: the class is not one of exceptions.
    """
    if not issubclass(kind, BaseException):
        raise TypeError("no class of exceptions")
    if shape_of(kind) is None:
        # These are the arguments that the exception kept, not always those its class takes.
        with contextlib.suppress(Exception):
            return kind(*args)
    error = kind.__new__(kind, *args)
    BaseException.__dict__["args"].__set__(error, args)
    return error


def complete(error: BaseException, data: list[Any], read: Callable[[Any], Any]) -> None:
    """Give an exception of ours the attributes and causes of the other process's exception."""
    attributes, members, causes, suppress = data
    own = BaseException.__getattribute__(error, "__dict__")
    if shape_of(type(error)) is None:
        own.update(read(attributes))
        for name, value in read(members):
            if name in _MEMBERS:
                # Some classes derived from these make it a read-only property.
                with contextlib.suppress(AttributeError, TypeError):
                    setattr(error, name, value)
    cause, context = [each if isinstance(each, BaseException) else None for each in map(read, causes)]
    BaseException.__setattr__(error, "__cause__", cause)
    BaseException.__setattr__(error, "__context__", context)
    BaseException.__setattr__(error, "__suppress_context__", suppress is True)


def may_be_system(error: OSError) -> bool:
    """Return True if the machine may have caused an error, or an earlier error in its chain.

    The two processes differ in the files they may write and reach, and in nothing else about the machine.
    """
    seen: BaseException | None = error
    for _ in range(_CHAIN):
        if isinstance(seen, _OF_PLACES) or (isinstance(seen, OSError) and seen.errno in _OF_MACHINE):
            return True
        seen = (seen.__cause__ or seen.__context__) if seen is not None else None
    return False


def let_go(error: BaseException | None) -> None:
    """Drop the frames that an exception holds, and thereby the values in them."""
    for _ in range(_CHAIN):
        if error is None:
            return
        error.__traceback__ = None
        error = error.__cause__ or error.__context__
