"""Determines which of a change's statements ran in no test."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from app.core.python_source import parse_module
from app.runners.evaluators.added_lines import added_lines, joined, ranges

Span = tuple[int, int]
"""First and last line of a statement, from 1. Of a compound one, the lines before its body."""

_FILES = 5
"""So many are named in a sentence."""

_FILES_KEPT = 50
_SPANS_KEPT = 200

_SAYS_LITTLE = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Import,
    ast.ImportFrom,
    ast.Global,
    ast.Nonlocal,
    ast.Pass,
    ast.Break,
    ast.Continue,
    ast.Try,
)
"""What runs with its neighbours, or when its module is loaded."""


@dataclass(frozen=True, slots=True)
class UnrunCode:
    """The new and changed statements of a candidate.

    Attributes:
        statements: how many there are.
        unrun: by path, those that ran in no test.
    """

    statements: int
    unrun: Mapping[str, Sequence[Span]]

    @property
    def count(self) -> int:
        """How many ran in no test."""
        return sum(map(len, self.unrun.values()))

    @property
    def sentence(self) -> str:
        """How many ran in no test, and where they are; without a period."""
        new = f"{self.statements} new statement{'' if self.statements == 1 else 's'}"
        if not self.count:
            return f"Tests ran all of {new}"
        places = [f"{name}:{ranges(_lines_of(spans))}" for name, spans in sorted(self.unrun.items())]
        more = f" and {len(places) - _FILES} more files" if len(places) > _FILES else ""
        return f"No test ran {self.count} of {new}: {'; '.join(places[:_FILES])}{more}"

    def metadata(self) -> dict[str, object]:
        """Return the figures, and the lines by path, for a result's metadata."""
        files = sorted(self.unrun.items())[:_FILES_KEPT]
        return {
            "statements": self.statements,
            "unrun": self.count,
            "unrun_lines": {
                name: [list(each) for each in joined(_lines_of(spans))[:_SPANS_KEPT]] for name, spans in files
            },
        }


def unrun_code(files: Iterable[tuple[str, str, str]], ran: Mapping[str, frozenset[int]]) -> UnrunCode:
    """Return the new statements of some files, and which of them did not run.

    Definitions and imports do not count: they run when a module is loaded, and that proves nothing.

    Args:
        files: path, text at the base and text now. A file that Python cannot read is left out.
        ran: by path, the lines that ran.
    """
    count = 0
    unrun: dict[str, list[Span]] = {}
    for name, before, now in files:
        added = added_lines(before.encode().splitlines(), now.encode().splitlines())
        for node, span in _statements(now):
            if added.isdisjoint(_lines(span)):
                continue
            count += 1
            # Whatever runs inside a compound statement shows that it was reached.
            if ran.get(name, frozenset()).isdisjoint(_lines((span[0], node.end_lineno or span[1]))):
                unrun.setdefault(name, []).append(span)
    return UnrunCode(count, unrun)


def _lines_of(spans: Iterable[Span]) -> Iterator[int]:
    return chain.from_iterable(map(_lines, spans))


def _lines(span: Span) -> range:
    return range(span[0], span[1] + 1)


def _statements(text: str) -> Iterator[tuple[ast.stmt, Span]]:
    """Yield the statements of a module that do something, in the order of their lines."""
    try:
        left: list[ast.AST] = [parse_module(text.encode())]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    while left:
        node = left.pop()
        if isinstance(node, ast.stmt) and not _says_little(node):
            yield node, _span_of(node)
        if not _is_for_types(node):
            left += reversed([each for each in ast.iter_child_nodes(node) if _holds_statements(each)])


def _holds_statements(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case)


def _says_little(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.AnnAssign(value=None):
            return True
        case _:
            return isinstance(node, _SAYS_LITTLE) or _is_for_types(node)


def _is_for_types(node: ast.AST) -> bool:
    """Return True for `if TYPE_CHECKING:`, of which only type checkers read the body."""
    match node:
        case ast.If(test=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name == "TYPE_CHECKING"
        case _:
            return False


def _span_of(node: ast.stmt) -> Span:
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return node.lineno, node.end_lineno or node.lineno
    first = body[0].pattern.lineno if isinstance(body[0], ast.match_case) else body[0].lineno
    return node.lineno, max(node.lineno, first - 1)
