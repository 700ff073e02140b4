"""Makes no rows of test functions that a run leaves out by their marks, as by `-m "not stress"`."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

_CHANGES_MARKS = re.compile(rb"pytest_collection_modifyitems|pytest_itemcollected|own_markers")
"""In a project's own code: it may take marks away from rows, or use those that do not run."""


class DeselectedFunctions:
    """The pytest plug-in that leaves out functions none of whose rows can run.

    pytest makes all rows of a function before it deselects them. These may be tens of thousands. Rows have
    all marks of their function, and perhaps more. A function is left out only if its rows are deselected
    whatever their further marks are.

    Args:
        sources: the files of the project that may hold hooks.
    """

    def __init__(self, sources: "list[str]") -> None:
        self._sources = sources
        self._expression: Any = None
        self._is_read = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(
        self, collector: pytest.Collector, obj: object
    ) -> "list[pytest.Item] | None":
        """Make nothing of such a function."""
        if not inspect.isfunction(obj):
            return None
        if not self._is_read:
            self._is_read, self._expression = True, self._read(collector.config.option.markexpr)
        if self._expression is None:
            return None
        known = {each.name for each in collector.iter_markers()}.union(_own_marks(obj))
        return [] if _value(self._expression, known) is False else None

    def _read(self, text: str) -> Any:
        try:
            expression = ast.parse(text.strip(), mode="eval").body if text else None
        except (SyntaxError, ValueError):  # pytest accepts names that Python does not
            return None
        return None if expression is None or any(map(_may_change_marks, self._sources)) else expression


def _own_marks(function: Any) -> "Iterator[str]":
    marks = getattr(function, "pytestmark", [])
    for each in cast("list[Any]", marks if type(marks) is list else [marks]):
        name = getattr(each, "name", None)
        if isinstance(name, str):
            yield name


def _may_change_marks(source: str) -> bool:
    try:
        return _CHANGES_MARKS.search(Path(source).read_bytes()) is not None
    except OSError:
        return False


def _value(expression: Any, known: "set[str]") -> "bool | None":
    """Return what an expression says about all tests with at least the known marks; None if that varies."""
    if isinstance(expression, ast.Name):
        return True if expression.id in known else None
    if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.Not):
        inner = _value(expression.operand, known)
        return None if inner is None else not inner
    if isinstance(expression, ast.BoolOp):
        decides = isinstance(expression.op, ast.Or)
        values = [_value(each, known) for each in expression.values]
        if decides in values:
            return decides
        return None if None in values else not decides
    return None
