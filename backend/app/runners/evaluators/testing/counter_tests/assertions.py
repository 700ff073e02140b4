"""Finds the places in an assertion where its expectation can be changed."""

import ast
import re
from collections.abc import Iterator, Sequence

from app.runners.evaluators.source_edits import Edit, Source
from app.runners.evaluators.testing.counter_tests.names import Names
from app.runners.evaluators.testing.counter_tests.operands import (
    OperandLiteral,
    expected_literals,
    is_pure,
    literals,
    member_literals,
    near_literals,
)
from app.runners.evaluators.testing.counter_tests.sites import Kind, Site

_SHOWN_CHARS = 120
_CONTRARY: dict[type[ast.cmpop], tuple[bytes, bytes]] = {
    ast.Eq: (rb"==", b"!="),
    ast.NotEq: (rb"!=", b"=="),
    ast.Lt: (rb"<", b">="),
    ast.LtE: (rb"<=", b">"),
    ast.Gt: (rb">", b"<="),
    ast.GtE: (rb">=", b"<"),
    ast.In: (rb"\bin\b", b"not in"),
    ast.NotIn: (rb"\bnot\s+in\b", b"in"),
    ast.Is: (rb"\bis\b", b"is not"),
    ast.IsNot: (rb"\bis\s+not\b", b"is"),
}
_ENDS = frozenset({"startswith", "endswith"})


class Sites:
    """Collects the sites of one test.

    Attributes:
        found: the sites.

    Args:
        source: the file.
        names: the names of the test.
    """

    def __init__(self, source: Source, names: Names) -> None:
        self._source = source
        self._names = names
        self.found: list[Site] = []

    def add_literals(self, place: ast.AST, found: Sequence[OperandLiteral], *, sure: bool) -> None:
        """Add a site for each literal that is expected at a place."""
        for each in found:
            self._add(place, Kind.VALUE, sure=sure and each.certain, found=each)

    def add_edits(
        self,
        place: ast.AST,
        kind: Kind,
        edits: Sequence[tuple[Edit, ...]],
        *,
        sure: bool,
        row: int | None = None,
    ) -> None:
        """Add a site with known alternatives."""
        if edits:
            self._add(place, kind, sure=sure, edits=tuple(edits), row=row)

    def add_negation(self, place: ast.AST, node: ast.expr, *, sure: bool) -> None:
        """Add the negation of a condition as a whole."""
        self.add_edits(place, Kind.CONTRARY, [self._source.wrapped(node, b"(not (", b"))")], sure=sure)

    def add_condition(self, place: ast.AST, node: ast.expr, *, sure: bool) -> None:
        """Add the sites of a condition that must be true."""
        match node:
            case ast.BoolOp(op=ast.And()):
                for each in node.values:
                    self.add_condition(place, each, sure=sure)
            case ast.Compare(ops=[operator], comparators=[right]):
                self.add_literals(place, self._compared(node.left, operator, right), sure=sure)
                self._add_contrary(place, node, sure=sure)
            case ast.Constant():
                pass
            case _:
                if isinstance(node, ast.Call) and self._is_end(node):
                    found = [each for part in node.args for each in literals(part, self._names)]
                    self.add_literals(place, found, sure=False)
                self.add_negation(place, node, sure=sure)

    def add_equation(self, place: ast.AST, operands: Sequence[ast.expr], *, sure: bool) -> None:
        """Add the literals of two operands that must be equal."""
        self.add_literals(place, expected_literals(operands, self._names), sure=sure)

    def _compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> list[OperandLiteral]:
        match operator:
            case ast.Eq() | ast.Is():
                return expected_literals([left, right], self._names)
            case ast.Lt() | ast.LtE():
                return near_literals(left, right)
            case ast.In():
                return [] if is_pure(right, self._names) else member_literals(left, self._names)
            case _:
                return []

    def _is_end(self, node: ast.Call) -> bool:
        return isinstance(node.func, ast.Attribute) and node.func.attr in _ENDS

    def _add_contrary(self, place: ast.AST, node: ast.Compare, *, sure: bool) -> None:
        """Invert the operator. If it cannot be found in the text, negate the whole condition."""
        pattern, contrary = _CONTRARY[type(node.ops[0])]
        start, end = self._source.span(node.left)[1], self._source.span(node.comparators[0])[0]
        gap = self._source.content[start:end]
        places = list(re.finditer(pattern, gap))
        if len(places) != 1 or b"#" in gap:
            self.add_negation(place, node, sure=sure)
            return
        edit = Edit(start + places[0].start(), start + places[0].end(), contrary)
        self.add_edits(place, Kind.CONTRARY, [(edit,)], sure=sure)

    def _add(
        self,
        place: ast.AST,
        kind: Kind,
        *,
        sure: bool,
        found: OperandLiteral | None = None,
        edits: tuple[tuple[Edit, ...], ...] = (),
        row: int | None = None,
    ) -> None:
        shown = " ".join(ast.unparse(place).split())[:_SHOWN_CHARS]
        self.found.append(
            Site(
                line=getattr(place, "lineno", 0),
                shown=shown,
                kind=kind,
                certain=sure,
                leaf=found.leaf if found else None,
                edits=edits,
                row=found.row if found else row,
            )
        )


def all_literals(nodes: Sequence[ast.expr], names: Names) -> Iterator[OperandLiteral]:
    """Yield the literals of several expressions."""
    for each in nodes:
        yield from literals(each, names)
