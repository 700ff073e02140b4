"""Asks whether tests reach any of their assertions: code that yields nothing ends a loop of them at once."""

import ast
from collections.abc import Iterator, Sequence

from app.runners.evaluators.source_edits import Edit
from app.runners.evaluators.testing.counter_tests.drawing import Unit
from app.runners.evaluators.testing.counter_tests.names import Function

_FAILS = b'raise AssertionError("reached")'
_STRAIGHT = (ast.With, ast.AsyncWith, ast.Try)


def failing_assertions(unit: Unit, function: Function) -> list[Edit]:
    """Return the edits that let each assertion of a test fail as soon as it is reached.

    Return nothing unless code decides whether the test reaches any of them: all are in loops, conditions or
    functions.
    """
    if not _may_skip_all(function):
        return []
    edits = (unit.file.source.replaced(each, _FAILS) for each in _assertions(function))
    return [_with_lines(each) for each in edits]


def _with_lines(edit: Edit) -> Edit:
    """Write line ends behind a statement that was put into brackets to keep its number of lines."""
    if not edit.text.startswith(b"("):
        return edit
    return Edit(edit.start, edit.end, _FAILS + b"\n" * edit.text.count(b"\n"))


def _may_skip_all(function: Function) -> bool:
    """Return True if a test has assertions, and code decides whether it reaches any of them."""
    return any(_assertions(function)) and not _always_checks(function.body)


def _always_checks(body: Sequence[ast.stmt]) -> bool:
    """Return True if statements reach a check, whichever branches they take."""
    return any(_is_check(each) or _is_check_in_each_branch(each) for each in _straight(body))


def _is_check_in_each_branch(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and _always_checks(node.body) and _always_checks(node.orelse)


def _straight(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run unless an exception ends the test."""
    for statement in body:
        yield statement
        if isinstance(statement, _STRAIGHT):
            yield from _straight(statement.body)


def _assertions(function: Function) -> Iterator[ast.stmt]:
    for each in ast.walk(function):
        if isinstance(each, ast.stmt) and _is_assertion(each):
            yield each


def _is_assertion(node: ast.stmt) -> bool:
    match node:
        case ast.Assert():
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))):
            return name.startswith("assert")
        case _:
            return False


def _is_check(node: ast.stmt) -> bool:
    """Return True for an assertion, and for a context, a helper or a raise that may fail a test, too."""
    if _is_assertion(node) or isinstance(node, ast.Raise):
        return True
    if isinstance(node, ast.With | ast.AsyncWith):
        return any("raises" in ast.unparse(each).lower() for each in node.items)
    return isinstance(node, ast.Expr) and "assert" in ast.unparse(node)
