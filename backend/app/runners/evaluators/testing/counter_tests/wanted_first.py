"""Computes expectations before the code is called: code may change an input so that it expects less.

`assert ordered(data) == sorted(data)` passes if `ordered` empties the list and returns nothing. In the
changed test, `sorted(data)` is computed first.
"""

import ast
import builtins
from collections.abc import Iterator, Sequence

from app.runners.evaluators.testing.counter_tests.drawing import Unit
from app.runners.evaluators.testing.counter_tests.edits import Edit, Source
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
        for wanted in _expectations(statement):
            given = _inputs(wanted)
            user = next((each for each in body[: place + 1] if _hands_over(each, given, wanted)), None)
            if user is None or not isinstance(user, _SIMPLE) or not given:
                continue
            if any(_assigns(each, given) for each in body[body.index(user) : place + 1]):
                continue
            name = f"wanted_{wanted.lineno}_{wanted.col_offset}".encode()
            start = source.span(user)[0]
            text = b" ".join(source.text(wanted).split())
            yield Edit(start, start, name + b" = (" + text + b"); ")
            yield source.replaced(wanted, name)


def _expectations(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield what a statement expects, if built-in functions compute it from names."""
    match statement:
        case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
            sides = (left, right)
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[left, right])):
            sides = (left, right) if name in _EQUATIONS else ()
        case _:
            return
    for each in sides:
        calls = [node for node in ast.walk(each) if isinstance(node, ast.Call)]
        if calls and all(_is_builtin(call) for call in calls) and len(_inputs(each)) == 1:
            yield each


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
