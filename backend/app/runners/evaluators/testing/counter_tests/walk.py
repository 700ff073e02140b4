"""Walks through a test's statements, and finds those that every passing test reaches."""

import ast
from collections.abc import Callable, Iterator, Sequence

IsFull = Callable[[ast.expr], bool]
"""Returns True if a loop over an expression runs at least once."""

RAISING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "suppress", "assertRaisesMessage"})
"""Context managers that end their block at an exception and continue."""
_UNSURE = frozenset({"subTest", "subtest", "test"})
_CATCHALL = frozenset({"Exception", "BaseException", "AssertionError"})
_RUNNERS = frozenset({"asyncio.run", "anyio.run", "trio.run"})


def has_rows(loop: ast.expr) -> bool:
    """Return True if a loop certainly runs: over literals, or over pairs of a result with literals.

    Code that returns nothing to pair would keep the test from asserting anything.
    """
    match loop:
        case ast.List() | ast.Tuple():
            return bool(loop.elts)
        case ast.Call(func=ast.Name(id="zip"), args=args):
            return any(isinstance(each, ast.List | ast.Tuple) and has_rows(each) for each in args)
        case _:
            return False


def statements(
    body: Sequence[ast.stmt], *, sure: bool = True, is_full: IsFull = has_rows
) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements of a test, and whether a passing test certainly has run each to its end.

    Blocks that must end with an exception are left out, because their assertions are never reached. A
    function in the test counts as run if the test calls it, or lets an event loop run it.

    Args:
        body: the statements.
        sure: whether they are reached at all.
        is_full: returns True if a loop over an expression runs at least once.
    """
    called = _called_functions(body) if sure else frozenset[str]()
    for statement in body:
        yield statement, sure
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name in called:
            yield from statements(statement.body, sure=sure, is_full=is_full)
        else:
            yield from _inner(statement, is_full, sure=sure)
        sure = sure and not _may_leave(statement)


def _called_functions(body: Sequence[ast.stmt]) -> frozenset[str]:
    """Return the functions of a test that its own statements run: `main()`, `asyncio.run(main())`."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    plain = [each.name for each in body if isinstance(each, functions) and is_plain_function(each)]
    called: set[str] = set()
    for statement in body:
        match statement:
            case ast.Expr(value=value) | ast.Assign(value=value):
                called.update(run_by(value))
            case _:
                pass
        if _may_leave(statement):
            break
    return frozenset(name for name in plain if name in called and plain.count(name) == 1)


def is_plain_function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return True if calling a function runs it: it has no decorator and is not a generator."""
    inner = [each for part in node.body for each in _without_functions(part)]
    return not node.decorator_list and not any(isinstance(each, ast.Yield | ast.YieldFrom) for each in inner)


def run_by(node: ast.expr) -> Iterator[str]:
    """Yield the names of the functions that an expression runs itself or in an event loop."""
    match node:
        case ast.Await(value=value):
            yield from run_by(value)
        case ast.Call(func=ast.Name(id=name)):
            yield name
        case ast.Call(args=[first, *_]) if (
            ast.unparse(node.func) in _RUNNERS or called_name(node) == "run_until_complete"
        ):
            yield from [first.id] if isinstance(first, ast.Name) else run_by(first)
        case _:
            pass


def _inner(statement: ast.stmt, is_full: IsFull, *, sure: bool) -> Iterator[tuple[ast.stmt, bool]]:
    match statement:
        case ast.With() | ast.AsyncWith():
            names = {called_name(item.context_expr) for item in statement.items}
            if names.isdisjoint(RAISING):
                inside = sure and names.isdisjoint(_UNSURE)
                yield from statements(statement.body, sure=inside, is_full=is_full)
        case ast.For():
            inside = sure and is_full(statement.iter) and not _may_jump(statement)
            yield from statements(statement.body, sure=inside, is_full=is_full)
        case ast.AsyncFor() | ast.If() | ast.While():
            yield from statements([*statement.body, *statement.orelse], sure=False)
        case ast.Try():
            yield from _tried(statement, is_full, sure=sure)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield from statements(statement.body, sure=False)
        case _:
            pass


def _tried(statement: ast.Try, is_full: IsFull, *, sure: bool) -> Iterator[tuple[ast.stmt, bool]]:
    if not any(_catches_failure(each) for each in statement.handlers):
        inside = sure and not statement.handlers
        yield from statements(statement.body, sure=inside, is_full=is_full)
    for handler in statement.handlers:
        yield from statements(handler.body, sure=False)
    yield from statements(statement.orelse, sure=False)
    yield from statements(statement.finalbody, sure=sure, is_full=is_full)


def _catches_failure(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(last_name(each) in _CATCHALL for each in kinds)


def _may_leave(statement: ast.stmt) -> bool:
    """Return True if a statement can end the test without a failure."""
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
    """Return the last part of a dotted name; `""` for other expressions."""
    match node:
        case ast.Attribute():
            return node.attr
        case ast.Name():
            return node.id
        case _:
            return ""


def called_name(node: ast.expr) -> str:
    """Return the last part of a called name, or of a name itself."""
    return last_name(node.func if isinstance(node, ast.Call) else node)
