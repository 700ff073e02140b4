"""Finds code that counts its calls, and does something else after many. Pure."""

import ast
from collections.abc import Collection, Iterator

from app.runners.evaluators.testing.source_questions.closed_expressions import called

_FEW = 2


def counters_of_calls(module: ast.Module) -> frozenset[str]:
    """Return the sources of what functions increase, and neither make nor get.

    What an object counts by itself, as in `self.calls += 1`, is not among it.
    """
    functions = [
        each for each in ast.walk(module) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    found = {ast.unparse(each) for function in functions for each in _increased_by(function)}
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if called(value) == "count":
                found.add(f"next({name})")
            case _:
                continue
    return frozenset(found)


def compares_many(condition: ast.expr, counters: Collection[str]) -> bool:
    """Return True if an expression has a counter and a number of more than a few calls."""
    nodes = [each for each in ast.walk(condition) if isinstance(each, ast.expr)]
    numbers = [each.value for each in nodes if isinstance(each, ast.Constant)]
    is_many = any(isinstance(each, int) and each > _FEW for each in numbers)
    return is_many and any(ast.unparse(each) in counters for each in nodes)


def _increased_by(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    nodes = list(ast.walk(function))
    own = {each.arg for each in nodes if isinstance(each, ast.arg)} - _kept_between_calls(function.args)
    own |= {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    shared = [each.names for each in nodes if isinstance(each, ast.Global | ast.Nonlocal)]
    own = own.difference(*shared)
    yield from (each for node in nodes for each in _increased(node) if _root(each) not in own)


def _kept_between_calls(given: ast.arguments) -> set[str]:
    """Return the parameters whose default is an object that calls can change."""
    named = [*given.posonlyargs, *given.args]
    pairs = [*zip(reversed(named), reversed(given.defaults), strict=False)]
    pairs += [(one, value) for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value]
    return {one.arg for one, value in pairs if isinstance(value, ast.List | ast.Dict | ast.Call)}


def _increased(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.AugAssign(target=target, op=ast.Add(), value=ast.Constant()):
            return [target]
        case ast.Assign(targets=targets, value=ast.BinOp(op=ast.Add(), right=ast.Constant(value=int()))):
            return targets
        case _:
            return []


def _root(node: ast.expr) -> str:
    """Return the name at the beginning of an expression such as `name.part[0]`; empty for a class."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and node.attr == "__class__":
            return ""
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
