"""Walks through a test's statements and says which are reached whenever the test passes."""

import ast
from collections.abc import Iterator, Sequence

RAISING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "suppress", "assertRaisesMessage"})
"""Context managers that end their block with an exception and go on."""
_UNSURE = frozenset({"subTest", "subtest", "test"})
_CATCHALL = frozenset({"Exception", "BaseException", "AssertionError"})


def statements(body: Sequence[ast.stmt], *, sure: bool = True) -> Iterator[tuple[ast.stmt, bool]]:
    """Return the statements of a test, and whether a test that passes has run each to its end.

    Blocks that have to end with an exception are left out: what they assert is never reached.
    """
    for statement in body:
        yield statement, sure
        yield from _inner(statement, sure=sure)
        sure = sure and not _may_leave(statement)


def _inner(statement: ast.stmt, *, sure: bool) -> Iterator[tuple[ast.stmt, bool]]:
    match statement:
        case ast.With() | ast.AsyncWith():
            names = {called_name(item.context_expr) for item in statement.items}
            if names.isdisjoint(RAISING):
                yield from statements(statement.body, sure=sure and names.isdisjoint(_UNSURE))
        case ast.For():
            full = isinstance(statement.iter, ast.List | ast.Tuple) and bool(statement.iter.elts)
            yield from statements(statement.body, sure=sure and full and not _may_jump(statement))
        case ast.AsyncFor() | ast.If() | ast.While():
            yield from statements([*statement.body, *statement.orelse], sure=False)
        case ast.Try():
            yield from _tried(statement, sure=sure)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield from statements(statement.body, sure=False)
        case _:
            pass


def _tried(statement: ast.Try, *, sure: bool) -> Iterator[tuple[ast.stmt, bool]]:
    if not any(_catches_failure(each) for each in statement.handlers):
        yield from statements(statement.body, sure=sure and not statement.handlers)
    for handler in statement.handlers:
        yield from statements(handler.body, sure=False)
    yield from statements(statement.orelse, sure=False)
    yield from statements(statement.finalbody, sure=sure)


def _catches_failure(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(last_name(each) in _CATCHALL for each in kinds)


def _may_leave(statement: ast.stmt) -> bool:
    """Tell whether a statement can end the test without a failure."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Expr):
        return False
    return any(isinstance(each, ast.Return) for each in _without_functions(statement))


def _may_jump(loop: ast.For) -> bool:
    jumps = (ast.Break, ast.Continue, ast.Return)
    return any(isinstance(each, jumps) for part in loop.body for each in _without_functions(part))


def _without_functions(statement: ast.stmt) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def last_name(node: ast.expr) -> str:
    """Return the last part of a dotted name, `""` for what is none."""
    match node:
        case ast.Attribute():
            return node.attr
        case ast.Name():
            return node.id
        case _:
            return ""


def called_name(node: ast.expr) -> str:
    """Return the last part of the name of what is called, or of a name itself."""
    return last_name(node.func if isinstance(node, ast.Call) else node)
