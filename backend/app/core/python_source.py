"""Parses Python source, one text at a time."""

import ast
import threading

_ONE_AT_A_TIME = threading.Lock()
"""CPython before 3.12 counts the depth of a conversion for all threads together (gh-106905).

Two threads that parse at once then end with a `SystemError`: "AST constructor recursion depth mismatch".
"""


def parse_module(source: str | bytes) -> ast.Module:
    """Parse a module, as `ast.parse` does; safe to call in several threads.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source cannot be parsed.
    """
    with _ONE_AT_A_TIME:
        return ast.parse(source)


def parse_expression(source: str | bytes) -> ast.Expression:
    """Parse one expression, as `ast.parse` does in the mode `eval`; safe to call in several threads.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source cannot be parsed.
    """
    with _ONE_AT_A_TIME:
        return ast.parse(source, mode="eval")
