"""Computes expectations before the code is called: code may change an input so that it expects less.

`assert ordered(data) == sorted(data)` passes if `ordered` empties the list and returns nothing. In the
changed test, `sorted(data)` is computed first.
"""

import ast
import builtins
from collections.abc import Iterator, Sequence

from app.runners.evaluators.source_edits import Edit, Source
from app.runners.evaluators.testing.counter_tests.drawing import Unit
from app.runners.evaluators.testing.counter_tests.names import Function

_BUILTINS = frozenset(vars(builtins))
_EQUATIONS = frozenset({"assertEqual", "assertEquals", "assertListEqual", "assertCountEqual"})
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Assert)


def wanted_first(unit: Unit, function: Function) -> list[Edit]:
    """Return the edits that compute the expectations of a test before the code gets their inputs."""
    return [edit for body in _bodies(function) for edit in _of_body(body, unit.file.source)]


def _bodies(function: Function) -> Iterator[Sequence[ast.stmt]]:
    yield function.body
    for node in ast.walk(function):
        if isinstance(node, ast.With | ast.For):
            yield node.body


def _of_body(body: Sequence[ast.stmt], source: Source) -> Iterator[Edit]:
    for place, statement in enumerate(body):
        for wanted, result in _equations(statement):
            given = _inputs(wanted)
            user = next((each for each in body[: place + 1] if _hands_over(each, given, wanted)), None)
            if not isinstance(user, _SIMPLE) or not _has_result(user, result, given):
                continue
            before = body[: body.index(user)]
            if not any(_fills(each, given) for each in before):
                continue
            if any(_assigns(each, given) for each in body[len(before) : place + 1]):
                continue
            name = f"wanted_{wanted.lineno}_{wanted.col_offset}".encode()
            start = source.span(user)[0]
            text = b" ".join(source.text(wanted).split())
            yield Edit(start, start, name + b" = (" + text + b"); ")
            yield source.replaced(wanted, name)


def _equations(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what a statement expects, if built-in functions compute it from one name, beside the result."""
    match statement:
        case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
            sides = ((left, right), (right, left))
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[left, right])):
            sides = ((left, right), (right, left)) if name in _EQUATIONS else ()
        case _:
            return
    for wanted, result in sides:
        calls = [node for node in ast.walk(wanted) if isinstance(node, ast.Call)]
        if calls and all(_is_builtin(call) for call in calls) and len(_inputs(wanted)) == 1:
            yield wanted, result


def _has_result(user: ast.stmt, result: ast.expr, given: set[str]) -> bool:
    """Return True if a result comes from the statement that hands over the input."""
    if _hands_over(ast.Expr(result), given, ast.Constant(None)):
        return True
    names = {each.id for each in ast.walk(result) if isinstance(each, ast.Name)} - _BUILTINS - given
    return _assigns(user, names)


def _fills(statement: ast.stmt, names: set[str]) -> bool:
    """Return True if a statement sets one of some names to something that is not empty.

    A list that the code has to fill is no input.
    """
    if not isinstance(statement, ast.Assign) or not _assigns(statement, names):
        return False
    match statement.value:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Call(args=parts):
            return bool(parts)
        case ast.Dict(keys=keys):
            return bool(keys)
        case ast.Constant(value=value):
            return bool(value)
        case _:
            return True


def _is_builtin(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in _BUILTINS


def _inputs(node: ast.expr) -> set[str]:
    """Return the names in an expression that are neither built in nor its own."""
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    own = {each.id for each in names if isinstance(each.ctx, ast.Store)}
    return {each.id for each in names if isinstance(each.ctx, ast.Load)} - own - _BUILTINS


def _hands_over(statement: ast.stmt, names: set[str], wanted: ast.expr) -> bool:
    """Return True if a statement gives one of some names to code that is not built in."""
    inside = set(map(id, ast.walk(wanted)))
    for call in ast.walk(statement):
        if isinstance(call, ast.Call) and id(call) not in inside and not _is_builtin(call):
            given = [*call.args, *(each.value for each in call.keywords)]
            if any(isinstance(each, ast.Name) and each.id in names for each in given):
                return True
    return False


def _assigns(statement: ast.stmt, names: set[str]) -> bool:
    return any(
        isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each.id in names
        for each in ast.walk(statement)
    )
