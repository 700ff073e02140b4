"""Parses Python source, one text at a time."""

import ast
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

_ONE_AT_A_TIME = threading.Lock()
"""CPython before 3.12 counts the depth of a conversion for all threads together (gh-106905).

Two threads that parse at once then end with a `SystemError`: "AST constructor recursion depth mismatch".
Libraries parse without this lock, so the error can still occur; another try succeeds.
"""

_TRIES = 5
_Parsed = TypeVar("_Parsed")

_REMEMBERED_SIZE = 2_000_000
"""Characters or bytes of source whose trees are kept. That takes about 70 MB; 0.93 MB of sources took 32."""


class _Modules:
    """The modules that were parsed or asked for last. Each evaluation reads the same files many times."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[bool, str | bytes], ast.Module] = OrderedDict()
        self._lock = threading.Lock()
        self._size = 0

    def get(self, source: str | bytes) -> ast.Module | None:
        key = isinstance(source, str), source
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def put(self, source: str | bytes, module: ast.Module) -> None:
        key = isinstance(source, str), source
        with self._lock:
            self._size += 0 if key in self._found else len(source)
            self._found[key] = module
            while self._size > _REMEMBERED_SIZE:
                (_, oldest), _ = self._found.popitem(last=False)
                self._size -= len(oldest)


_MODULES = _Modules()


def parse_module(source: str | bytes) -> ast.Module:
    """Parse a module, as `ast.parse` does; safe to call in several threads.

    The module may be shared: callers must not change it. `parse_to_change` gives one that is not.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source cannot be parsed.
    """
    known = _MODULES.get(source)
    if known is None:
        known = parse_to_change(source)
        _MODULES.put(source, known)
    return known


def parse_to_change(source: str | bytes) -> ast.Module:
    """Parse a module that the caller may change; safe to call in several threads.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source cannot be parsed.
    """
    return undisturbed(lambda: ast.parse(source))


def nodes_of(source: str | bytes) -> list[ast.AST]:
    """Return all nodes of a module; none if it cannot be parsed. Safe to call in several threads."""
    try:
        return list(ast.walk(parse_module(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def parse_expression(source: str | bytes) -> ast.Expression:
    """Parse one expression, as `ast.parse` does in the mode `eval`; safe to call in several threads.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source cannot be parsed.
    """
    return undisturbed(lambda: ast.parse(source, mode="eval"))


def undisturbed(parse: Callable[[], _Parsed]) -> _Parsed:
    """Parse, and try once more if another thread interfered.

    Args:
        parse: parses; may raise a `SystemError` because of other threads.
    """
    with _ONE_AT_A_TIME:
        for _ in range(_TRIES - 1):
            try:
                return parse()
            except SystemError:
                continue
        return parse()
