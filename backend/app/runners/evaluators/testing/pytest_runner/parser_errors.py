"""Keeps an error of Python's parser from ending the run while pytest shows the source of a failure."""

from functools import wraps
from typing import Any

import _pytest._code.code


def show_failures_without_parser() -> None:
    """Let pytest show the failing line alone if Python's parser fails on a file that Python has run.

    Python 3.11 counts nested calls while it parses, and raises `SystemError` ("AST constructor recursion
    depth mismatch") if other code runs meanwhile. pytest expects only `SyntaxError`.
    """
    code: Any = _pytest._code.code
    find_statement = code.getstatementrange_ast

    @wraps(find_statement)
    def found(*arguments: Any, **named: Any) -> Any:
        try:
            return find_statement(*arguments, **named)
        except SystemError as error:
            raise SyntaxError(str(error)) from error

    code.getstatementrange_ast = found
