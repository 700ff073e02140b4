"""Finds the literals in an operand of an assertion."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.runners.evaluators.testing.counter_tests.literals import NoLiteralError, is_plain, plain_value
from app.runners.evaluators.testing.counter_tests.names import Names
from app.runners.evaluators.testing.counter_tests.sites import Leaf
from app.runners.evaluators.testing.counter_tests.walk import called_name

_DEEPEST = 4
_SHORTEST_SURE = 3
_NEAREST = 0.5
_MOCK_CALLS = frozenset({"mock.call", "unittest.mock.call"})


@dataclass(frozen=True, slots=True)
class OperandLiteral:
    """A literal of an operand.

    Attributes:
        leaf: the literal.
        certain: whether another value of it certainly changes the value of the whole operand.
        row: the row of parameters that holds it, if any.
    """

    leaf: Leaf
    certain: bool
    row: int | None = None


def expected_literals(operands: Sequence[ast.expr], names: Names) -> list[OperandLiteral]:
    """Return the literals of that operand of an equation which is the expected value.

    That is the operand made only of literals, or else one that holds some, the right one first.
    """
    sides = [list(literals(each, names)) for each in reversed(operands)]
    pure = [side for side, node in zip(sides, reversed(operands), strict=True) if is_pure(node, names)]
    if len(pure) == len(operands):
        return []
    if pure:
        return pure[0]
    found = next((side for side in sides if side), list[OperandLiteral]())
    return [replace(each, certain=False) for each in found]


def is_pure(node: ast.expr, names: Names, depth: int = 0) -> bool:
    """Return True if an expression is made only of literals, directly or through names.

    A name that is also read elsewhere may be changed there, or passed to the code under test.
    """
    if depth > _DEEPEST:
        return False
    match node:
        case ast.List() | ast.Tuple() | ast.Set():
            return all(is_pure(each, names, depth) for each in node.elts)
        case ast.Dict():
            parts = [*node.keys, *node.values]
            return all(each is not None and is_pure(each, names, depth) for each in parts)
        case ast.Name():
            origins = names.origins(node.id) if names.is_only_read_once(node.id) else ()
            return bool(origins) and all(is_pure(each.node, names, depth + 1) for each in origins)
        case ast.Call() if is_mock_call(node):
            return all(is_pure(each, names, depth) for each in _arguments(node))
        case ast.Call() if called_name(node) == "approx":
            return bool(node.args) and is_pure(node.args[0], names, depth)
        case _:
            return is_plain(node)


def literals(
    node: ast.expr, names: Names, *, certain: bool = True, depth: int = 0
) -> Iterator[OperandLiteral]:
    """Yield the literals that determine an expression's value."""
    if depth > _DEEPEST:
        return
    if isinstance(node, ast.Name):
        yield from _named(node.id, names, certain=certain, depth=depth)
    elif isinstance(node, ast.Call) and called_name(node) == "approx" and node.args:
        whole = certain and len(node.args) == 1 and not node.keywords
        for found in literals(node.args[0], names, certain=whole, depth=depth):
            yield from _approximate(found)
    elif (parts := _parts(node)) is not None:
        nodes, decisive = parts
        for each in nodes:
            yield from literals(each, names, certain=certain and decisive, depth=depth)
    else:
        yield from _plain(node, certain=certain)


def _named(name: str, names: Names, *, certain: bool, depth: int) -> Iterator[OperandLiteral]:
    once = certain and names.is_only_read_once(name)
    for origin in names.origins(name):
        for found in literals(origin.node, names, certain=once, depth=depth + 1):
            yield replace(found, row=origin.row if found.row is None else found.row)


def _parts(node: ast.expr) -> tuple[Sequence[ast.expr], bool] | None:
    """Return the parts of an expression, and whether each determines its value. Return None for an atom."""
    match node:
        case ast.List() | ast.Tuple():
            return node.elts, True
        case ast.Dict():
            return node.values, True
        case ast.Set():
            return node.elts, False
        case ast.Call():
            return _arguments(node), is_mock_call(node)
        case ast.BinOp():
            return [node.left, node.right], False
        case _:
            return None


def is_mock_call(node: ast.Call) -> bool:
    """Return True if an expression is a call in the form that mocks record: `mock.call("a")`."""
    return ast.unparse(node.func) in _MOCK_CALLS


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def near_literals(left: ast.expr, right: ast.expr) -> list[OperandLiteral]:
    """Return the number to which a result must be close: `1.5` in `abs(got - 1.5) < 1e-6`."""
    match left, right:
        case (
            ast.Call(func=ast.Name(id="abs"), args=[ast.BinOp(op=ast.Sub()) as difference]),
            ast.Constant(value=int() | float() as limit),
        ) if 0 < limit < _NEAREST:
            found = [
                each for part in (difference.left, difference.right) for each in _plain(part, certain=True)
            ]
            return [near for each in found for near in _approximate(each)] if len(found) == 1 else []
        case _:
            return []


def _plain(node: ast.expr, *, certain: bool) -> Iterator[OperandLiteral]:
    try:
        yield OperandLiteral(Leaf(node, plain_value(node)), certain)
    except NoLiteralError:
        return


def _approximate(found: OperandLiteral) -> Iterator[OperandLiteral]:
    """Yield a number as approximate: only values far from it are wrong."""
    value = found.leaf.value
    if isinstance(value, int | float):
        yield replace(found, leaf=replace(found.leaf, value=float(value)))


def member_literals(node: ast.expr, names: Names) -> list[OperandLiteral]:
    """Return the literals that are searched for in something. Short ones may occur there by chance."""
    if not is_pure(node, names):
        return []
    return [
        replace(
            each,
            leaf=replace(each.leaf, member=True),
            certain=each.certain and _is_long_text(each.leaf),
        )
        for each in literals(node, names)
    ]


def _is_long_text(leaf: Leaf) -> bool:
    return isinstance(leaf.value, str | bytes) and len(leaf.value) >= _SHORTEST_SURE
