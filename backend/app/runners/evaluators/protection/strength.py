"""Decides whether a rewritten test requires as much as before, if the base's version passes. Pure.

The base's version judges the attempt. A rewritten version can only weaken later runs: by fewer or looser
assertions, by ways around them, or by no longer calling the tested code. A test without any of these requires
as much. If the text does not show this, the answer is no.
"""

import ast
import builtins
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.runners.evaluators.protection.additions import REACHING, names_in
from app.runners.evaluators.protection.changes import DefinitionChange
from app.runners.evaluators.protection.meaning import (
    MeaningChange,
    compare_decorators,
    rows_of,
)
from app.runners.evaluators.protection.normal_form import Function, normal_body

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Ways around an assertion, or definitions that may replace the tested code.
_DETOURS = (
    *(ast.Try, ast.Return, ast.If, ast.IfExp, ast.While, ast.For, ast.AsyncFor, ast.Match, ast.Break),
    *(ast.Continue, ast.Raise, ast.Lambda, ast.ClassDef, *_FUNCTIONS, ast.Yield, ast.YieldFrom),
)
_PATCHING = REACHING | {"suppress", "monkeypatch", "mocker"}
_EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
_WARNING = frozenset({"warns", "deprecated_call", "assertWarns", "assertWarnsRegex"})
_ANYTHING = frozenset({"Exception", "BaseException"})
_KNOWN = frozenset(dir(builtins)) | sys.stdlib_module_names

_NOTHING, _LOOSE, _COMPUTED, _EXACT = range(4)


class _Sides(NamedTuple):
    left: ast.expr
    right: ast.expr


def asks_for_as_much(change: DefinitionChange) -> bool:
    """Return True if a changed definition is a test, or a signature, that requires as much as before."""
    if change.change is MeaningChange.WEAKER or not (len(change.old) == len(change.new) == 1):
        return False
    old, new = change.old[0], change.new[0]
    if not (isinstance(old, _FUNCTIONS) and isinstance(new, _FUNCTIONS)) or type(old) is not type(new):
        return False
    if _takes_the_same(old, new):
        return True
    return change.is_test and _decorated_alike(old, new) and _as_strong(old, new)


def _takes_the_same(old: Function, new: Function) -> bool:
    """Return True if only the kinds of arguments differ, such as an added `/`."""
    same_names = list(names_in([old.args])) == list(names_in([new.args]))
    defaults = [[*map(ast.dump, each.args.defaults)] for each in (old, new)]
    decorators = [[*map(ast.dump, each.decorator_list)] for each in (old, new)]
    keywords = [[ast.dump(each) if each else "" for each in one.args.kw_defaults] for one in (old, new)]
    same_head = same_names and defaults[0] == defaults[1] and decorators[0] == decorators[1]
    return same_head and keywords[0] == keywords[1] and normal_body(old) == normal_body(new)


def _decorated_alike(old: Function, new: Function) -> bool:
    """Return True for decorators that require as much: with as many rows, and no calls of tested code."""
    if compare_decorators(old.decorator_list, new.decorator_list).is_harmless:
        return True
    if len(old.decorator_list) != len(new.decorator_list):
        return False
    return all(map(_same_or_as_many_rows, old.decorator_list, new.decorator_list))


def _same_or_as_many_rows(old: ast.expr, new: ast.expr) -> bool:
    if ast.dump(old) == ast.dump(new):
        return True
    before, after = rows_of(old), rows_of(new)
    if before is None or after is None or before.about != after.about:
        return False
    known = {*names_in(before.rows)} | _KNOWN
    return len(after.rows) >= len(before.rows) and set(names_in(after.rows)) <= known


def _as_strong(old: Function, new: Function) -> bool:
    if _detours(new) - _detours(old) or not _patching(new) <= _patching(old):
        return False
    if not _tested(old) <= _tested(new):
        return False
    before, after = (sorted(_strengths(each), reverse=True) for each in (old, new))
    return len(after) >= len(before) and all(mine >= its for mine, its in zip(after, before, strict=False))


def _detours(function: Function) -> Counter[str]:
    nodes = (node for each in function.body for node in ast.walk(each))
    found = Counter(type(node).__name__ for node in nodes if isinstance(node, _DETOURS))
    swallowing = sum(isinstance(node, ast.With) and _swallows(node) for node in ast.walk(function))
    return found + Counter(swallowing=swallowing)


def _patching(function: Function) -> set[str]:
    nodes = list(ast.walk(function))
    names = {*names_in([function]), *(node.attr for node in nodes if isinstance(node, ast.Attribute))}
    return names & _PATCHING


def _tested(function: Function) -> set[str]:
    """Return the names from outside the test that it calls or reads, without Python's own."""
    nodes = [node for each in function.body for node in ast.walk(each) if isinstance(node, ast.Name)]
    bound = {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
    arguments = set(names_in([function.args]))
    return {node.id for node in nodes} - bound - arguments - _KNOWN - {"pytest"}


def _strengths(function: Function) -> Iterator[int]:
    """Yield how much each assertion requires, except assertions after a block that swallows exceptions."""
    fixed = _fixed_names(function)
    for statement in _reached(function.body):
        yield from (each for each in _of_statement(statement, fixed) if each)


def _reached(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for each in body:
        yield each
        if isinstance(each, (*_FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(each, ast.With | ast.AsyncWith) and _swallows(each):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _reached(getattr(each, name, []))


def _of_statement(statement: ast.stmt, fixed: set[str]) -> Iterator[int]:
    match statement:
        case ast.Assert():
            yield from _of_condition(statement.test, fixed)
        case ast.Expr(ast.Call() as call) | ast.Expr(ast.Await(ast.Call() as call)):
            yield _of_call(call, fixed)
        case ast.With() | ast.AsyncWith():
            yield from (_of_block(item.context_expr) for item in statement.items)
        case _:
            return


def _of_condition(test: ast.expr, fixed: set[str]) -> Iterator[int]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for each in test.values:
            yield from _of_condition(each, fixed)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.Is):
        yield _of_equality(_Sides(test.left, test.comparators[0]), fixed)
    else:
        yield _NOTHING if _is_fixed(test, fixed) else _LOOSE


def _of_equality(sides: _Sides, fixed: set[str]) -> int:
    known = [_is_fixed(each, fixed) for each in sides]
    if all(known) or ast.dump(sides.left) == ast.dump(sides.right):
        return _NOTHING
    return _EXACT if any(known) else _COMPUTED


def _of_call(call: ast.Call, fixed: set[str]) -> int:
    name = _last_name(call)
    if isinstance(call.func, ast.Name):
        return _NOTHING if name in _KNOWN else _COMPUTED
    if not name.startswith("assert"):
        return _NOTHING
    if name.endswith(("Equal", "Equals", "assertIs")) and "Not" not in name and len(call.args) >= 2:
        return _of_equality(_Sides(*call.args[:2]), fixed)
    if name.startswith("assert_"):
        return _COMPUTED
    return _NOTHING if all(_is_fixed(each, fixed) for each in call.args) else _LOOSE


def _of_block(context: ast.expr) -> int:
    name = _last_name(context)
    if name not in _EXPECTING | _WARNING or not isinstance(context, ast.Call):
        return _NOTHING
    if any(word.arg == "match" for word in context.keywords) or name.endswith("Regex"):
        return _EXACT
    return _LOOSE if not context.args or _ANYTHING & set(names_in(context.args)) else _COMPUTED


def _swallows(block: ast.With | ast.AsyncWith) -> bool:
    return any(_last_name(item.context_expr) in _EXPECTING | {"suppress"} for item in block.items)


def _last_name(node: ast.expr) -> str:
    return ast.unparse(node.func if isinstance(node, ast.Call) else node).rpartition(".")[2]


def _fixed_names(function: Function) -> set[str]:
    """Return local names that are only ever bound to values written in the test."""
    bound = Counter(
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    fixed: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and _is_fixed(node.value, fixed):
            targets = [each.id for each in node.targets if isinstance(each, ast.Name)]
            fixed.update(each for each in targets if bound[each] == 1)
    return fixed


def _is_fixed(node: ast.expr, fixed: set[str]) -> bool:
    """Return True if an expression has the same value whatever the tested code does."""
    return set(names_in([node])) <= _KNOWN | fixed
