"""Finds the cases of a test file: rows of tables, and checks at the end of tests."""

import ast
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from app.runners.evaluators.held_out.cutting import Cut, Part

TestFunction = ast.FunctionDef | ast.AsyncFunctionDef
Parent = ast.Module | ast.ClassDef
_MIN_ROWS = 3
"""Fewer rows are all shown: from two, an agent could not see the rule behind them."""


@dataclass(frozen=True, slots=True)
class CaseGroup:
    """Cases of which some can be hidden without a change in what the others test.

    Attributes:
        tests: names of the tests that they belong to, such as `TestParse::test_hours`.
        cases: their number.
        node: the node with the cases.
        part: the field that holds them.
        places: index of each case that can be hidden.
        only_last: whether hidden cases must be the last ones, because others may depend on earlier ones.
    """

    tests: tuple[str, ...]
    cases: int
    node: ast.AST
    part: Part
    places: tuple[int, ...]
    only_last: bool

    def hide(self, share: float, chance: random.Random) -> tuple[Cut, int] | None:
        """Choose a share of the cases. Return the cut and their number. One case stays, of a table two."""
        kept = 1 if self.part == "body" else _MIN_ROWS - 1
        count = min(max(1, round(share * self.cases)), len(self.places), self.cases - kept)
        if count < 1:
            return None
        if self.part == "body":  # what stands before a hidden check belongs to it
            first, size = self.places[-count - 1] + 1, len(getattr(self.node, self.part))
            return Cut.of(self.node, self.part, range(first, size)), count
        chosen = self.places[-count:] if self.only_last else chance.sample(self.places, count)
        return Cut.of(self.node, self.part, chosen), count


def test_functions(module: ast.Module) -> Iterator[tuple[Parent, TestFunction]]:
    """Yield the tests of a module with the module or class around them."""
    parents: list[Parent] = [module]
    while parents:
        parent = parents.pop(0)
        for each in parent.body:
            if isinstance(each, ast.ClassDef):
                parents.append(each)
            elif isinstance(each, TestFunction) and each.name.startswith("test"):
                yield parent, each


def case_groups(module: ast.Module) -> Iterator[CaseGroup]:
    """Yield the cases of a test file, each in one group."""
    tables = _Tables(module)
    uses: dict[int, list[tuple[str, ast.List | ast.Tuple, bool]]] = {}
    for parent, function in test_functions(module):
        name = name_of(parent, function)
        rows, is_parametrised = _rows_of(function)
        found = [table for each in rows if (table := tables.of(each)) is not None]
        for table in found[:1]:
            uses.setdefault(id(table), []).append((name, table, not is_parametrised))
        if not found and not is_parametrised:
            yield _checks(name, function)
    for of_table in uses.values():
        names = tuple(name for name, _, _ in of_table)
        yield _rows(names, of_table[0][1], only_last=any(is_loop for _, _, is_loop in of_table))


def name_of(parent: Parent, function: TestFunction) -> str:
    """Return the name of a test in its file."""
    return f"{parent.name}::{function.name}" if isinstance(parent, ast.ClassDef) else function.name


def names_in(function: TestFunction) -> frozenset[str]:
    """Return the names that a test takes from elsewhere: globals, attributes, fixtures and keywords."""
    own = {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and _is_set(each)}
    found: set[str] = {each.arg for each in function.args.args}
    for node in ast.walk(function):
        match node:
            case ast.Name(id=name) if name not in own:
                found.add(name)
            case ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found |= {each.name for each in names}
            case _:
                pass
    return frozenset(found)


def _is_set(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _rows(tests: tuple[str, ...], table: ast.List | ast.Tuple, *, only_last: bool) -> CaseGroup:
    count = len(table.elts)
    plain = tuple(at for at, each in enumerate(table.elts) if not isinstance(each, ast.Starred))
    places = plain if count >= _MIN_ROWS else ()
    return CaseGroup(tests, count, table, "elts", places, only_last=only_last or len(plain) < count)


def _checks(test: str, function: TestFunction) -> CaseGroup:
    places = tuple(at for at, each in enumerate(function.body) if _has_check(each))
    count = max(1, len(places))
    # What follows the last check may tidy up.
    can_hide = count > 1 and places[-1] == len(function.body) - 1
    return CaseGroup((test,), count, function, "body", places if can_hide else (), only_last=True)


def _has_check(statement: ast.stmt) -> bool:
    return any(_is_check(node) for node in ast.walk(statement))


def _is_check(node: ast.AST) -> bool:
    match node:
        case ast.Assert():
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name.startswith(("assert", "fail")) or name in ("raises", "warns")
        case _:
            return False


def _rows_of(function: TestFunction) -> tuple[list[ast.expr], bool]:
    """Return the rows that a test runs through, and whether they are those of a parametrisation."""
    parametrised = list(_parametrised(function))
    if parametrised:
        return [each for each in parametrised if each is not None], True
    looped = _last_loop(function)
    return ([] if looped is None else [looped.iter]), False


def _parametrised(function: TestFunction) -> Iterator[ast.expr | None]:
    """Yield the rows of each parametrisation; None where names of the rows are listed as well."""
    for each in function.decorator_list:
        match each:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[_, rows, *_], keywords=keywords):
                named = any(keyword.arg == "ids" and not _is_function(keyword.value) for keyword in keywords)
                yield None if named else rows
            case _:
                pass


def _is_function(node: ast.expr) -> bool:
    return isinstance(node, ast.Lambda | ast.Name | ast.Attribute)


def _last_loop(function: TestFunction) -> ast.For | None:
    """Return the loop over checks that ends a test. Nothing after it can depend on its last rounds."""
    last = function.body[-1]
    return last if isinstance(last, ast.For) and not last.orelse and _has_check(last) else None


class _Tables:
    """The literal lists of a module that only tests run through."""

    def __init__(self, module: ast.Module) -> None:
        others = Counter(node.id for node in ast.walk(module) if isinstance(node, ast.Name))
        for _, function in test_functions(module):
            others -= Counter(each.id for each in _rows_of(function)[0] if isinstance(each, ast.Name))
        self._named: dict[str, ast.List | ast.Tuple] = {}
        for each in module.body:
            match each:
                case ast.Assign(targets=[ast.Name(id=name)], value=(ast.List() | ast.Tuple()) as table):
                    # The one place left is where it is assigned. Other uses may count on its length.
                    if others[name] == 1:
                        self._named[name] = table
                case _:
                    pass

    def of(self, rows: ast.expr) -> ast.List | ast.Tuple | None:
        """Return the table that stands for the rows of one test, or None."""
        if isinstance(rows, ast.List | ast.Tuple):
            return rows
        return self._named.get(rows.id) if isinstance(rows, ast.Name) else None
