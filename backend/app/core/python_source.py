"""Parses Python source, one text at a time."""

import ast
import threading
from collections.abc import Callable
from typing import TypeVar

_ONE_AT_A_TIME = threading.Lock()
"""CPython before 3.12 counts the depth of a conversion for all threads together (gh-106905).

Two threads that parse at once then end with a `SystemError`: "AST constructor recursion depth mismatch".
Libraries parse without this lock, so the error can still occur; another try succeeds.
"""

_TRIES = 5
_Parsed = TypeVar("_Parsed")


def parse_module(source: str | bytes) -> ast.Module:
    """Parse a module, as `ast.parse` does; safe to call in several threads.

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
