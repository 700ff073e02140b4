"""Makes single mutations of Python source: each is one small mistake, as people and models make them."""

import ast
import copy
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_SHIFTED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_DELETED = (ast.Assign, ast.AugAssign, ast.Expr)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with one mistake in it.

    Attributes:
        source: the complete module.
        operator: the kind of mistake.
        line: the mistake's line in the original.
        what: the original code and what it became, in one line.
    """

    source: str
    operator: str
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class _Site:
    """A node of the tree, and how to replace it."""

    node: ast.AST
    put: Callable[[ast.AST], None]


def mutants(source: str, after_line: int = 0) -> list[Mutant]:
    """Return every mutant of the code below a line, in the order of the code and without repeats.

    Mutations that can make no difference are left out: annotations, docstrings and assertions stay, and so
    does the comparison in `if a > b: b = a`, because equal values may be assigned or not.

    Args:
        source: a module.
        after_line: code that starts at or before this line stays unchanged.

    Raises:
        SyntaxError: the source is not Python.
    """
    tree = ast.parse(source)
    made = {ast.unparse(tree)}
    extremes = {id(each.test) for each in ast.walk(tree) if isinstance(each, ast.If) and _keeps_extreme(each)}
    found: list[Mutant] = []
    for site in _sites(tree):
        line = getattr(site.node, "lineno", 0)
        if line <= after_line:
            continue
        before = _shown(site.node)
        for operator, other in _alternatives(site.node):
            if operator == "boundary" and id(site.node) in extremes:
                continue
            site.put(other)
            text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            site.put(site.node)
            if text not in made:
                made.add(text)
                found.append(Mutant(text, operator, line, f"{before} → {_shown(other)}"))
    return found


def sample(every: Sequence[Mutant], count: int, seed: str) -> list[Mutant]:
    """Choose some mutants of each kind in turn, so that frequent kinds do not crowd out the others.

    The same arguments give the same choice on any machine.
    """
    chance = random.Random(seed)  # noqa: S311 - reproducible on purpose
    by_operator: dict[str, list[Mutant]] = {}
    for each in chance.sample(every, len(every)):
        by_operator.setdefault(each.operator, []).append(each)
    queues = chance.sample(list(by_operator.values()), len(by_operator))
    chosen: list[Mutant] = []
    while queues and len(chosen) < count:
        queue = queues.pop(0)
        chosen.append(queue.pop())
        if queue:
            queues.append(queue)
    return chosen


def _sites(node: ast.AST) -> Iterator[_Site]:
    if isinstance(node, ast.Assert):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        if isinstance(value, ast.AST):
            yield from _site(value, partial(setattr, node, name))
        elif isinstance(value, list):
            children = cast("list[object]", value)
            for index, each in enumerate(children):
                if isinstance(each, ast.AST):
                    yield from _site(each, partial(children.__setitem__, index))


def _site(node: ast.AST, put: Callable[[ast.AST], None]) -> Iterator[_Site]:
    yield _Site(node, put)
    yield from _sites(node)


def _alternatives(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.stmt):
        yield from _other_statements(node)
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node)
    elif isinstance(node, ast.Slice):
        yield from _other_slices(node)
    elif isinstance(node, ast.expr):
        yield from _other_expressions(node)


def _other_statements(node: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Return) and not _is_none(node.value):
        yield "return", ast.Return(ast.Constant(None))
    elif isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Compare):
        yield "condition", _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, _DELETED) and not _is_docstring(node):
        yield "deletion", ast.Pass()
    if isinstance(node, ast.AugAssign) and type(node.op) in _ARITHMETIC:
        yield "arithmetic", _with(node, op=_ARITHMETIC[type(node.op)]())


def _other_expressions(node: ast.expr) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Compare(ops=[op]):
            yield "comparison", _with(node, ops=[_NEGATED[type(op)]()])
            if type(op) in _SHIFTED:
                yield "boundary", _with(node, ops=[_SHIFTED[type(op)]()])
        case ast.BinOp(op=op) if type(op) in _ARITHMETIC and not _is_text(node.left):
            yield "arithmetic", _with(node, op=_ARITHMETIC[type(op)]())
        case ast.BoolOp(op=op):
            yield "boolean", _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "boolean", operand
        case ast.Call(func=ast.Name(id="range"), args=[*before, last]) if len(before) < 2:
            yield "range", _with(node, args=[*before, _plus(last, 1)])
            yield "range", _with(node, args=[*before, _plus(last, -1)])
        case _:
            return


def _other_constants(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, bool):
        yield "boolean", ast.Constant(not value)
    elif isinstance(value, int | float):
        yield "constant", ast.Constant(value + 1)
        yield "constant", _plus(node, -1)


def _other_slices(node: ast.Slice) -> Iterator[tuple[str, ast.AST]]:
    if node.lower is not None:
        yield "slice", _with(node, lower=_plus(node.lower, 1))
    if node.upper is not None:
        yield "slice", _with(node, upper=_plus(node.upper, -1))


def _keeps_extreme(node: ast.If) -> bool:
    """Return whether this is `if a > b: b = a` in any of its spellings."""
    match node:
        case ast.If(
            test=ast.Compare(left=left, comparators=[right]),
            body=[ast.Assign(targets=[target], value=value)],
            orelse=[],
        ):
            compared = {ast.unparse(left), ast.unparse(right)}
            return compared == {ast.unparse(target), ast.unparse(value)}
        case _:
            return False


def _plus(node: ast.expr, step: int) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return ast.Constant(node.value + step)
    return ast.BinOp(node, ast.Add() if step > 0 else ast.Sub(), ast.Constant(abs(step)))


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _is_none(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
    return text if len(text) <= 60 else f"{text[:59]}…"
