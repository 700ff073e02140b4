"""Finds new code that treats the inputs of tests in a special way, whatever it returns for them."""

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.runners.evaluators.testing.source_questions.expectations import literal

_LEAST_ENTRIES = 3
_LEAST_OF_ENTRIES = 0.8
_PLAIN_WORD = re.compile(r"[A-Za-z_]*")
_USUAL = (0, 1, "")
_RAISING = frozenset({"raises", "assertRaises", "assertRaisesRegex"})

_Function = ast.FunctionDef | ast.AsyncFunctionDef
Value = tuple[str, object]
"""A literal with the name of its type, so that 1 and True differ."""

Lines = Mapping[Value, int]


@dataclass(frozen=True, slots=True)
class SharedInputs:
    """Inputs of one test that code and test have in common: each with the line of both."""

    lines: Sequence[tuple[int, int]]


def listed_inputs(
    asked: Iterable[Lines], lists: Sequence[Lines], at_base: Callable[[Value], bool]
) -> SharedInputs | None:
    """Return the inputs of the first test that a list of new code holds, and little else.

    Args:
        asked: the inputs of each test.
        lists: the lists of the new code.
        at_base: returns True for a literal that the base's code has, too; such literals do not count.
    """
    for test in asked:
        for entries in lists:
            if len(entries.keys() & test.keys()) < _LEAST_ENTRIES:
                continue
            new = [value for value in entries if not at_base(value)]
            shared = [value for value in new if value in test]
            if len(shared) >= max(_LEAST_ENTRIES, _LEAST_OF_ENTRIES * len(new)):
                return SharedInputs([(test[value], entries[value]) for value in shared])
    return None


def refused_inputs(asked: Lines, compared: Lines, at_base: Callable[[Value], bool]) -> SharedInputs | None:
    """Return the inputs to which new code compares before it raises an error, as a test expects.

    Args:
        asked: inputs for which a test expects an error.
        compared: literals to which conditions compare before an error is raised.
        at_base: returns True for a literal that the base's code has, too; such literals do not count.
    """
    shared = [value for value in compared if value in asked and not at_base(value)]
    return SharedInputs([(asked[value], compared[value]) for value in shared]) if shared else None


def lists_of(module: ast.Module) -> list[Lines]:
    """Return the displays and chains of comparisons with several literals.

    Numbers that follow each other, such as 1, 2 and 3, do not count: tests begin with them, and so do tables.
    """
    lists = (dict(each) for each in _lists(module))
    return [each for each in lists if len(each) >= _LEAST_ENTRIES and not _is_series(each)]


def compared_before_errors(module: ast.Module) -> Lines:
    """Return the literals to which conditions compare before an error is raised.

    Words and the numbers 0 and 1 do not count: honest code refuses them, too.
    """
    return {
        value: line
        for node in ast.walk(module)
        if isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise)
        for value, line in _compared_in(node.test)
        if not _is_usual(value[1])
    }


def literals_of(module: ast.Module) -> set[Value]:
    """Return the literals of a module."""
    return {value for node in ast.walk(module) if (value := _value(node)) is not None}


def _lists(module: ast.Module) -> Iterator[list[tuple[Value, int]]]:
    for node in ast.walk(module):
        match node:
            case ast.Dict(keys=keys):
                yield _values(each for each in keys if each is not None)
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                yield _values(items)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield _compared_in(node)
            case _:
                continue


def _compared_in(node: ast.AST) -> list[tuple[Value, int]]:
    """Return the literals to which the conditions and cases of some code compare something."""
    found: list[tuple[Value, int]] = []
    for each in ast.walk(node):
        match each:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                found += _values((left, right))
            case ast.match_case(pattern=ast.MatchValue(value=value)):
                found += _values((value,))
            case _:
                continue
    return found


def asked_by_tests(module: ast.Module) -> list[Lines]:
    """Return for each test function the literals with which its assertions call something, and its rows'."""
    found: list[Lines] = []
    for node in ast.walk(module):
        if isinstance(node, _Function) and node.name.startswith("test"):
            calls = [call for each in ast.walk(node) for call in _asserted(each)]
            values = [value for call in calls for value in _values(_given(call))]
            values += (value for each in node.decorator_list for value in _rows(each))
            found.append(dict(values))
    return found


def _asserted(node: ast.AST) -> Iterator[ast.Call]:
    match node:
        case ast.Assert(test=test):
            inside = [test]
        case ast.Call(func=ast.Attribute(attr=name), args=args) if name.startswith("assert"):
            inside = args
        case _:
            return
    yield from (each for one in inside for each in ast.walk(one) if isinstance(each, ast.Call))


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(each.value for each in call.keywords)]


def _rows(decorator: ast.expr) -> Iterator[tuple[Value, int]]:
    """Yield the literals of the rows of a parametrisation without the last, which is the result."""
    for node in ast.walk(decorator):
        if not isinstance(node, ast.List | ast.Tuple) or not node.elts:
            continue
        for row in node.elts:
            if isinstance(row, ast.List | ast.Tuple) and len(row.elts) > 1:
                yield from _values(row.elts[:-1])
            elif isinstance(row, ast.Call) and len(row.args) > 1:
                yield from _values(row.args[:-1])


def refused_by_tests(module: ast.Module) -> Lines:
    """Return the literals with which tests call something that has to raise an error."""
    named = dict(_constants(module))
    found: dict[Value, int] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.With) and any(_expects_error(each.context_expr) for each in node.items):
            for call in (each for part in node.body for each in ast.walk(part) if isinstance(each, ast.Call)):
                given = _given(call)
                found |= _values(given)
                found |= [named[each.id] for each in given if isinstance(each, ast.Name) and each.id in named]
    return found


def _constants(module: ast.Module) -> Iterator[tuple[str, tuple[Value, int]]]:
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (found := _value(value)) is not None:
                yield name, (found, node.lineno)
            case _:
                continue


def _expects_error(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _RAISING


def _values(nodes: Iterable[ast.expr]) -> list[tuple[Value, int]]:
    return [(value, each.lineno) for each in nodes if (value := _value(each)) is not None]


def _value(node: ast.AST) -> Value | None:
    """Return a plain literal; None for anything else, and for truth values."""
    if not isinstance(node, ast.Constant | ast.UnaryOp):
        return None
    value = literal(node)
    is_plain = isinstance(value, str | bytes | int | float) and not isinstance(value, bool)
    return (type(value).__name__, value) if is_plain else None


def _is_series(values: Collection[Value]) -> bool:
    numbers = [number for _, number in values if isinstance(number, int)]
    return len(numbers) == len(values) and max(numbers) - min(numbers) == len(numbers) - 1


def _is_usual(value: object) -> bool:
    return value in _USUAL or (isinstance(value, str) and _PLAIN_WORD.fullmatch(value) is not None)
