"""Finds the code that tests give to processes of their own: texts after `-c`, and scripts."""

import ast
import re
import textwrap
from collections.abc import Iterator

from app.core.python_source import parse_module
from app.runners.evaluators.testing.counter_tests.names import Function

_STARTS = re.compile(rb"\bsubprocess\b|\bsys\.executable\b|\bPopen\b|\bcreate_subprocess_exec\b")
_EQUATIONS = frozenset({"assertEqual", "assertEquals"})
_MOST_BYTES = 200_000

UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def starts_children(content: bytes) -> bool:
    """Return True if a test file starts processes."""
    return _STARTS.search(content) is not None


def code_for_children(function: Function) -> tuple[ast.Constant, ...]:
    """Return the texts of a test that hold code with assertions."""
    return tuple(
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and asserts(node.value.encode())
    )


def named_scripts(function: Function, module: ast.Module) -> frozenset[str]:
    """Return the texts of a test, and of its file's own statements, that may name a script or a module."""
    nodes = [*ast.walk(function), *(node for each in module.body for node in _outside_functions(each))]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return frozenset(each for each in texts if 0 < len(each) < 200 and "\n" not in each)


def expected_literals(module: ast.Module) -> Iterator[ast.expr]:
    """Yield the literals that assertions ask for."""
    for node in ast.walk(module):
        match node:
            case ast.Assert(test=ast.Compare(left=one, ops=[ast.Eq()], comparators=[other])):
                yield from _literals(one, other)
            case ast.Call(func=ast.Attribute(attr=name), args=[one, other, *_]) if name in _EQUATIONS:
                yield from _literals(one, other)
            case _:
                continue


def _literals(one: ast.expr, other: ast.expr) -> Iterator[ast.expr]:
    sides = [each for each in (one, other) if _is_literal(each)]
    yield from sides[:1] if len(sides) == 1 else ()


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (*UNPARSABLE, TypeError):
        return False
    return True


def asserts(content: bytes) -> bool:
    """Return True for code that asserts an equality with a literal."""
    if b"assert" not in content or len(content) > _MOST_BYTES:
        return False
    try:
        module = parse_module(textwrap.dedent(content.decode()).encode())
    except UNPARSABLE:
        return False
    return next(expected_literals(module), None) is not None


def _outside_functions(statement: ast.stmt) -> Iterator[ast.AST]:
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from ast.walk(statement)
