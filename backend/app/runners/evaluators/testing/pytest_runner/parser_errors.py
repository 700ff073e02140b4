"""Reads the source of failures: past an error of Python's parser, and each file once."""

from functools import wraps
from typing import Any

import _pytest._code.code

_MOST_FILES = 20
"""That are remembered at once; a parsed file takes some megabytes."""


def show_failures_without_parser() -> None:
    """Let pytest show the failing line alone if Python's parser fails on a file that Python has run.

    Python 3.11 counts nested calls while it parses, and raises `SystemError` ("AST constructor recursion
    depth mismatch") if other code runs meanwhile. pytest expects only `SyntaxError`.

    It also parses a whole file for each failure. Here, further failures in a file find it parsed, and those
    in the same line find their statement.
    """
    code: Any = _pytest._code.code
    find_statement = code.getstatementrange_ast
    read: dict[str, dict[int, Any]] = {}

    @wraps(find_statement)
    def found(lineno: int, source: Any, **named: Any) -> Any:
        of_file = read.setdefault(str(source), {})
        if lineno not in of_file:
            if of_file:
                named["astnode"] = next(iter(of_file.values()))[0]
            try:
                of_file[lineno] = find_statement(lineno, source, **named)
            except SystemError as error:
                raise SyntaxError(str(error)) from error
            if len(read) > _MOST_FILES:
                del read[next(iter(read))]
        return of_file[lineno]

    code.getstatementrange_ast = found
