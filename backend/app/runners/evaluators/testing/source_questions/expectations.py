"""Reads from test files what they ask of the code, and which results they expect of it."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from app.runners.evaluators.testing.source_questions.known_answers import plain_text, tables_of_code

_EQUATIONS = frozenset(
    {
        *("assertEqual", "assertEquals", "assertListEqual", "assertMultiLineEqual", "assertDictEqual"),
        *("assertTupleEqual", "assertSetEqual", "assertAlmostEqual"),
    }
)
_TRUTHS = frozenset({"assertTrue", "assertFalse"})
_LEAST = 2


@dataclass(slots=True)
class Expectations:
    """What one test function, or all calls of one tested function, ask and expect.

    Attributes:
        results: expected results as text, each with the line of the test and what was asked for it.
        yes_no: inputs for which the answer is yes or no, as text, each with the line of the test.
    """

    results: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    yes_no: dict[str, int] = field(default_factory=dict[str, int])
    count: int = 0


def expectations_of(module: ast.Module) -> list[Expectations]:
    """Return what the tests of a module expect: by test function, by tested function and by list of rows."""
    by_function = defaultdict[str, Expectations](Expectations)
    found: list[Expectations] = []
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            own = Expectations()
            for each in ast.walk(node):
                _add_equation(each, own, by_function)
            found.append(own)
    found += by_function.values()
    for table in tables_of_code(module):
        rows = Expectations(count=len(table))
        for each in table:
            rows.results.setdefault(each.value, (each.line, " ".join(each.key)))
        found.append(rows)
    found += _columns(module)
    return [each for each in found if max(len(each.results), len(each.yes_no)) >= _LEAST]


def _add_equation(node: ast.AST, own: Expectations, by_function: dict[str, Expectations]) -> None:
    for call, wanted in _sides(node):
        found = next((each for each in ast.walk(call) if isinstance(each, ast.Call)), None)
        value = literal(wanted)
        if found is None or value is None:
            continue
        name = ast.unparse(found.func).rpartition(".")[2]
        asked = " ".join(str(literal(each)) for each in found.args if literal(each) is not None)
        for each in (own, by_function[name]):
            _add(each, value, wanted.lineno, asked)
    for call in _truths(node):
        texts = [value for each in call.args if isinstance(value := literal(each), str)]
        if len(texts) == 1:
            name = ast.unparse(call.func).rpartition(".")[2]
            for each in (own, by_function[name]):
                each.yes_no[texts[0]] = call.lineno


def _add(found: Expectations, value: Any, line: int, asked: str) -> None:
    if isinstance(value, bool):
        if asked:
            found.yes_no[asked] = line
        return
    found.count += 1
    found.results.setdefault(plain_text(value), (line, asked))


def _sides(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Assert(test=ast.Compare(left=one, ops=[ast.Eq() | ast.Is()], comparators=[other])):
            yield from ((one, other), (other, one))
        case ast.Call(func=ast.Attribute(attr=name), args=[one, other, *_]) if name in _EQUATIONS:
            yield from ((one, other), (other, one))
        case _:
            return


def _truths(node: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls whose truth a test asserts, or the opposite of it."""
    match node:
        case ast.Assert(test=ast.Call() as call):
            yield call
        case ast.Assert(test=ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call)):
            yield call
        case ast.Call(func=ast.Attribute(attr=name), args=[ast.Call() as call, *_]) if name in _TRUTHS:
            yield call
        case _:
            return


def _columns(module: ast.Module) -> Iterator[Expectations]:
    """Yield the texts of each parametrisation with one parameter, which its test asserts or denies."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            asserted = _names_asserted(node)
            for name, values in _parameters(node):
                if name in asserted:
                    known = {literal(each): each.lineno for each in values if isinstance(each, ast.Constant)}
                    yield Expectations(
                        yes_no={text: line for text, line in known.items() if isinstance(text, str)}
                    )


def _names_asserted(node: ast.AST) -> set[str]:
    calls = [call for each in ast.walk(node) for call in _truths(each)]
    return {each.id for call in calls for each in call.args if isinstance(each, ast.Name)}


def _parameters(
    node: ast.FunctionDef | ast.AsyncFunctionDef,
) -> Iterator[tuple[str, list[ast.expr]]]:
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(args=[ast.Constant(value=str() as name), ast.List(elts=values), *_]):
                yield name, values
            case ast.Call(args=[ast.Constant(value=str() as name), ast.Tuple(elts=values), *_]):
                yield name, values
            case _:
                continue


def literal(node: ast.expr) -> Any:
    """Return the value of a literal; None for anything else, and for None."""
    if not isinstance(node, ast.Constant | ast.UnaryOp | ast.List | ast.Tuple | ast.Dict | ast.Set):
        return None
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
