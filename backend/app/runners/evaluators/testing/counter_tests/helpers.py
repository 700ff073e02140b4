"""Finds functions of a test file that hold a test's assertions: `check(add)` with `def check(candidate)`."""

import ast
from collections import Counter
from collections.abc import Mapping

from app.runners.evaluators.testing.counter_tests.names import Function
from app.runners.evaluators.testing.counter_tests.walk import is_plain_function, run_by


def lone_helpers(module: ast.Module) -> dict[str, Function]:
    """Return the functions at module level that one place of the file calls, and that are no tests.

    A helper of several tests is left out: a wrong expectation there would disturb the others.
    """
    functions = [each for each in module.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    named = Counter(_names(module))
    return {
        each.name: each
        for each in functions
        if named[each.name] == 1 and is_plain_function(each) and not each.name.startswith("test")
    }


def helpers_run_by(statement: ast.stmt, helpers: Mapping[str, Function]) -> list[Function]:
    """Return the helpers that a statement of a test runs to their end."""
    if not isinstance(statement, ast.Expr | ast.Assign):
        return []
    return [helpers[name] for name in run_by(statement.value) if name in helpers]


def _names(module: ast.Module) -> list[str]:
    """Return every use of a name, and every definition but one of functions."""
    nodes = list(ast.walk(module))
    used = [each.id for each in nodes if isinstance(each, ast.Name)]
    used += [
        alias.asname or alias.name
        for each in nodes
        if isinstance(each, ast.Import | ast.ImportFrom)
        for alias in each.names
    ]
    defined = Counter(
        each.name for each in nodes if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )
    return [*used, *(defined - Counter(defined.keys())).elements()]
