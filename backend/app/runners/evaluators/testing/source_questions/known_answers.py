"""Finds tables in new code that repeat the inputs of tests beside the results that they expect."""

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

_WORDS = re.compile(r"\w+")
_LEAST_CHARS = 4
_LEAST_PAIRS = 2
_LEAST_OF_TABLE = 0.5
_LEAST_OF_TEST = 0.6
_MOST_PAIRS = 5000
_EQUATIONS = frozenset({"assertEqual", "assertEquals", "assertListEqual", "assertMultiLineEqual"})

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """An input beside the result for it.

    Attributes:
        key: the words of the input.
        value: the result, as text.
        line: number of the line that holds it; 0 for a JSON file.
    """

    key: Key
    value: str
    line: int

    @property
    def is_telling(self) -> bool:
        """True if it is unlikely that two texts hold such a pair by chance."""
        return len("".join(self.key)) + len(self.value) >= _LEAST_CHARS and self.key != words_of(self.value)


Table = tuple[KnownAnswer, ...]
"""The pairs of one display, one chain of conditions or one test."""


_Shared = list[tuple[KnownAnswer, KnownAnswer]]
"""Pairs of a test, each with that of the code."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """Pairs of a table in the code that tests hold, too: the test's first, then the code's."""

    pairs: tuple[tuple[KnownAnswer, KnownAnswer], ...]


def repeated(in_tests: Iterable[Table], in_code: Iterable[Table]) -> Repeated | None:
    """Return the pairs of the first table that mostly repeats a test.

    Most of the table's pairs must be the test's, and most of the test's pairs must be in the table. A table
    of a fact, such as that of the months, holds more than a test asks for, or is a part of what a test asks.
    """
    tests = list(in_tests)
    asked = defaultdict[str, list[tuple[int, KnownAnswer]]](list)
    for number, test in enumerate(tests):
        for each in test:
            asked[each.value].append((number, each))
    for table in in_code:
        for number, found in _shared(table, asked).items():
            if _is_most(found, table, tests[number]):
                return Repeated(tuple(found))
    return None


def _shared(table: Table, asked: Mapping[str, Sequence[tuple[int, KnownAnswer]]]) -> Mapping[int, _Shared]:
    """Return the pairs that a table shares with each test, by the test's number."""
    found = defaultdict[int, _Shared](list)
    for known in table:
        words, seen = set(known.key), set[int]()
        for number, each in asked.get(known.value, ()):
            if number not in seen and words.issuperset(each.key):
                seen.add(number)
                found[number].append((each, known))
    return dict(sorted(found.items()))


def _is_most(found: _Shared, table: Table, test: Table) -> bool:
    telling = {known.value for _, known in found if known.is_telling}
    asked = {one.key for one, _ in found}
    is_covered = len(asked) >= _LEAST_OF_TEST * len({each.key for each in test})
    return len(telling) >= _LEAST_PAIRS and is_covered and len(found) >= _LEAST_OF_TABLE * len(table)


def words_of(value: Any) -> Key:
    """Return the letters and digits of a value, as words."""
    return tuple(_WORDS.findall(value if isinstance(value, str) else repr(value)))


def tables_of_tests(module: ast.Module) -> Iterator[Table]:
    """Yield for each tested function, each test and each list of rows what they ask and expect."""
    by_name: dict[str, list[KnownAnswer]] = defaultdict(list)
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found = [each for statement in ast.walk(node) for each in _equation(statement)]
            yield from _full([each for _, each in found])
            for name, each in found:
                by_name[name].append(each)
    for answers in by_name.values():
        yield from _full(answers)
    yield from tables_of_code(module)


def tables_of_code(module: ast.Module) -> Iterator[Table]:
    """Yield the dictionaries, lists of rows and chains of conditions with plain values.

    A dictionary may hold several inputs for each result.
    """
    for node in ast.walk(module):
        match node:
            case ast.Dict(keys=keys, values=values):
                given = [(key, value) for key, value in zip(keys, values, strict=True) if key is not None]
                yield from _full([pair for key, value in given for pair in _pair([key], value)])
                yield from _full(
                    [pair for key, value in given for each in _listed(value) for pair in _pair([each], key)]
                )
            case ast.List(elts=rows) | ast.Tuple(elts=rows) | ast.Set(elts=rows):
                yield from _full([pair for row in rows for pair in _of_row(row)])
            case ast.Call(func=ast.Name(id="zip"), args=[keys, values]):
                found = zip(_listed(keys), _listed(values), strict=False)
                yield from _full([pair for key, value in found for pair in _pair([key], value)])
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _full([pair for each in ast.walk(node) for pair in _condition(each)])
            case _:
                continue


def special_cases(module: ast.Module) -> Iterator[Table]:
    """Yield for each function the inputs that it compares with, beside what it returns for them."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _full([pair for each in ast.walk(node) for pair in _condition(each)])


def tables_of_json(text: str) -> Iterator[Table]:
    """Yield the objects of a JSON text with plain values."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return
    waiting: list[Any] = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            known = cast("dict[str, Any]", value)
            plain = [(key, each) for key, each in known.items() if isinstance(each, str | int | float)]
            yield from _full([KnownAnswer(words_of(key), plain_text(each), 0) for key, each in plain])
            waiting += known.values()
        elif isinstance(value, list):
            waiting += cast("list[Any]", value)


def _full(pairs: Sequence[KnownAnswer]) -> Iterator[Table]:
    kept = tuple(dict.fromkeys(each for each in pairs if each.key))
    if _LEAST_PAIRS <= len(kept) <= _MOST_PAIRS:
        yield kept


def _of_row(row: ast.expr) -> Iterator[KnownAnswer]:
    """Yield each way in which a row holds an input and its result."""
    if isinstance(row, ast.Call) and row.args and ast.unparse(row.func).endswith("param"):
        row = ast.Tuple(elts=row.args)
    if not isinstance(row, ast.Tuple | ast.List) or len(row.elts) < _LEAST_PAIRS:
        return
    *given, wanted = row.elts
    yield from _pair(given, wanted)


def _equation(node: ast.AST) -> Iterator[tuple[str, KnownAnswer]]:
    """Yield the called function, and what it is asked and expected to return."""
    match node:
        case ast.Assert(test=ast.Compare(left=one, ops=[ast.Eq()], comparators=[other])):
            sides = [(one, other), (other, one)]
        case ast.Call(func=ast.Attribute(attr=name), args=[one, other, *_]) if name in _EQUATIONS:
            sides = [(one, other), (other, one)]
        case _:
            return
    for call, wanted in sides:
        if isinstance(call, ast.Call) and call.args:
            name = ast.unparse(call.func)
            yield from ((name, each) for each in _pair(call.args, wanted))


def _condition(node: ast.AST) -> Iterator[KnownAnswer]:
    """Yield the input and the result of a condition: `if x == 1: return 2`, also as an expression or case."""
    match node:
        case ast.If(test=test, body=[ast.Return(value=ast.expr() as value)]):
            yield from _compared(test, _made_of(value))
        case ast.IfExp(test=test, body=value):
            yield from _compared(test, value)
        case ast.match_case(pattern=ast.MatchValue(value=key), body=[ast.Return(value=ast.expr() as value)]):
            yield from _pair([key], value)
        case _:
            return


def _made_of(result: ast.expr) -> ast.expr:
    """Return the only argument of a call, such as of a class, and anything else as it is."""
    match result:
        case ast.Call(args=[only], keywords=[]):
            return only
        case _:
            return result


def _compared(test: ast.expr, value: ast.expr) -> Iterator[KnownAnswer]:
    keys = [
        side
        for each in ast.walk(test)
        if isinstance(each, ast.Compare) and isinstance(each.ops[0], ast.Eq)
        for side in (each.left, *each.comparators)
        if _is_plain(side)
    ]
    yield from _pair(keys, value) if keys else ()


def _pair(given: Sequence[ast.expr], wanted: ast.expr) -> Iterator[KnownAnswer]:
    try:
        key = tuple(word for each in given for word in words_of(ast.literal_eval(each)))
        value = ast.literal_eval(wanted)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return
    if value is not None and not isinstance(value, bool):
        yield KnownAnswer(key, plain_text(value), getattr(wanted, "lineno", 0))


def plain_text(value: Any) -> str:
    """Return a plain value as text."""
    return value if isinstance(value, str) else repr(value)


def _is_plain(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _listed(node: ast.expr) -> list[ast.expr]:
    """Return the items of a display, or of a text that is split into words."""
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return items
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as text), attr="split"), args=[]):
            return [ast.copy_location(ast.Constant(each), node) for each in text.split()]
        case _:
            return []


def lines_of(text: str, numbers: Mapping[int, None]) -> str:
    """Return some lines of a source."""
    lines = text.splitlines()
    return "\n".join(lines[each - 1].strip() for each in numbers if 0 < each <= len(lines))
