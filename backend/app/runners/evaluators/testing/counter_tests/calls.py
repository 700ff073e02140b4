"""Finds expectations in asserting calls: unittest's methods, mocks', pytest's context managers, helpers."""

import ast
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from app.runners.evaluators.source_edits import Edit, Source
from app.runners.evaluators.testing.counter_tests.assertions import Sites, all_literals
from app.runners.evaluators.testing.counter_tests.literals import matches
from app.runners.evaluators.testing.counter_tests.names import Names
from app.runners.evaluators.testing.counter_tests.operands import (
    OperandLiteral,
    member_literals,
    near_literals,
)
from app.runners.evaluators.testing.counter_tests.sites import Kind
from app.runners.evaluators.testing.counter_tests.walk import called_name

_EQUATIONS = frozenset(
    f"assert{name}"
    for name in (
        *("Equal", "Equals", "ListEqual", "TupleEqual", "DictEqual", "SetEqual", "SequenceEqual"),
        *("MultiLineEqual", "CountEqual"),
    )
)
_NEAR = frozenset({"assertAlmostEqual"})
_PAIRS = (
    *(("assertEqual", "assertNotEqual"), ("assertAlmostEqual", "assertNotAlmostEqual")),
    *(("assertIn", "assertNotIn"), ("assertTrue", "assertFalse"), ("assertIs", "assertIsNot")),
    *(("assertIsNone", "assertIsNotNone"), ("assertIsInstance", "assertNotIsInstance")),
    *(("assertGreater", "assertLessEqual"), ("assertGreaterEqual", "assertLess")),
    *(("assertRegex", "assertNotRegex"), ("assert_called", "assert_not_called")),
)
_CONTRARY = {
    **dict(_PAIRS),
    **{other: one for one, other in _PAIRS},
    "assert_called_once": "assert_not_called",
}
_MOCKED = frozenset({"assert_called_with", "assert_called_once_with", "assert_any_call"})
_ERRORS = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
_WARNINGS = frozenset({"warns", "assertWarns", "assertWarnsRegex"})
_ENDING_RUNS = frozenset({"KeyboardInterrupt", "pytest.exit.Exception", "BaseException"})
_HELPER = re.compile(r"_*(assert|check|expect|verify|compare|validate)", re.IGNORECASE)
_DENIES = re.compile(
    r"[a-z](?:No|Not|Non|Never|Without|Lacks|Missing)(?=[A-Z]|$)|_(?:no|not|non|never|without)(?=_|$)"
)
"""What a helper denies of one value, honest code mostly denies of others, too, as `assertNoHoliday` does."""

# Types that code hardly ever raises, and from which other types are hardly ever derived.
_OTHER_ERRORS = (b"BufferError", b"ReferenceError", b"ChildProcessError")
_OTHER_WARNINGS = (b"BytesWarning", b"ImportWarning", b"UnicodeWarning")


class Calls:
    """Adds the sites of calls to those of a test.

    Args:
        source: the file.
        names: the names of the test.
        sites: receives them.
        helpers: functions of the file that make assertions about their arguments.
    """

    def __init__(self, source: Source, names: Names, sites: Sites, helpers: Collection[str]) -> None:
        self._source = source
        self._names = names
        self._sites = sites
        self._helpers = helpers

    def add_statement(self, call: ast.Call, *, sure: bool) -> None:
        """Add the expectations of a call statement."""
        name = called_name(call)
        if name in _ERRORS | _WARNINGS:
            self.add_context(call, call, sure=sure)
        elif isinstance(call.func, ast.Attribute) and name.startswith("assert"):
            self._add_method(call, name, sure=sure)
        elif name in self._helpers or _HELPER.match(name):
            self._add_helper(call)

    def add_context(self, place: ast.AST, call: ast.Call, *, sure: bool) -> None:
        """Add the exception or warning with which a block, or the rest of a call, must end."""
        name = called_name(call)
        others = _OTHER_ERRORS if name in _ERRORS else _OTHER_WARNINGS
        if name not in _ERRORS | _WARNINGS or not call.args:
            return
        if isinstance(call.args[0], ast.Name | ast.Attribute | ast.Tuple) and not _ends_run(call.args[0]):
            edits = [(self._source.replaced(call.args[0], other),) for other in others]
            self._sites.add_edits(place, Kind.ERROR, edits, sure=sure)
        patterns = [each.value for each in call.keywords if each.arg == "match"]
        if name.endswith("Regex"):
            patterns += call.args[1:2]
        for each in patterns:
            self._add_pattern(place, each, sure=sure)

    def _add_pattern(self, place: ast.AST, node: ast.expr, *, sure: bool) -> None:
        found = [
            replace(each, leaf=replace(each.leaf, pattern=True), certain=each.certain and _is_own_match(each))
            for each in all_literals([node], self._names)
            if isinstance(each.leaf.value, str)
        ]
        self._sites.add_literals(place, found, sure=sure)

    def _add_method(self, call: ast.Call, name: str, *, sure: bool) -> None:
        """Add a method of unittest or of a mock. Other methods only might assert."""
        if name in _CONTRARY:
            self._sites.add_edits(call, Kind.CONTRARY, [(self._renamed(call, _CONTRARY[name]),)], sure=sure)
        operands = call.args[:2]
        if name in _MOCKED:
            self._sites.add_literals(call, list(all_literals(_given(call), self._names)), sure=sure)
        elif len(operands) > 1 and name in _EQUATIONS | _NEAR:
            plain = name in _EQUATIONS or len(call.args) == len(operands)
            self._sites.add_equation(call, operands, sure=sure and plain)
        elif len(operands) > 1 and name in ("assertLess", "assertLessEqual"):
            self._sites.add_literals(call, near_literals(*operands), sure=sure)
        elif operands and name == "assertTrue":
            self._sites.add_condition(call, operands[0], sure=sure)
        elif operands and name == "assertIn":
            self._sites.add_literals(call, member_literals(operands[0], self._names), sure=sure)
        elif name not in _CONTRARY:
            self._add_helper(call)

    def _add_helper(self, call: ast.Call) -> None:
        """Add the literals of a helper's call. Any may be the expected one, most likely the last."""
        if _DENIES.search(called_name(call)):
            return
        given = _given(call)
        found: Sequence[OperandLiteral] = list(all_literals(given[1:] or given, self._names))
        self._sites.add_literals(call, found, sure=False)

    def _renamed(self, call: ast.Call, name: str) -> Edit:
        end = self._source.span(call.func)[1]
        return Edit(end - len(called_name(call).encode()), end, name.encode())


def _ends_run(node: ast.expr) -> bool:
    """Return True if an uncaught exception would end the whole run, not only its test."""
    kinds = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(ast.unparse(each) in _ENDING_RUNS for each in kinds)


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(each.value for each in call.keywords)]


def _is_own_match(found: OperandLiteral) -> bool:
    """Return True if a pattern is plain text, or almost: it matches itself."""
    value = found.leaf.value
    return isinstance(value, str) and matches(value, value) is True
