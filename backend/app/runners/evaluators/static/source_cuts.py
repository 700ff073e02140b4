"""Replaces parts of a Python source and keeps every line in its place."""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cut:
    """Bytes of a source to replace."""

    start: int
    end: int
    text: bytes


class Places:
    """Finds the bytes of a source that belong to a node.

    Args:
        text: the source.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._starts = [0]
        for line in text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def place(self, line: int, column: int) -> int:
        """Return the byte at a line (from 1) and a column (from 0)."""
        return self._starts[line - 1] + column

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Return where a node begins."""
        return self.place(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Return where a node ends."""
        return self.place(node.end_lineno or 0, node.end_col_offset or 0)

    def replaced(self, node: ast.expr | ast.stmt, text: bytes) -> Cut:
        """Return the cut that replaces a node, and keeps its line ends in brackets or behind it."""
        start, end = self.start(node), self.end(node)
        lines = self.text[start:end].count(b"\n") - text.count(b"\n")
        return Cut(start, end, b"(" + text + b"\n" * lines + b")" if lines > 0 else text)


def apply_cuts(text: bytes, cuts: Iterable[Cut]) -> bytes:
    """Return a source with its cuts. Of two that overlap, the inner one is left out."""
    for each in _outer(sorted(cuts, key=lambda each: (each.start, -each.end))):
        text = text[: each.start] + each.text + text[each.end :]
    return text


def _outer(cuts: Sequence[Cut]) -> list[Cut]:
    """Return the cuts that no earlier one contains, the last one first."""
    found: list[Cut] = []
    for each in cuts:
        if not found or each.start >= found[-1].end:
            found.append(each)
    return found[::-1]
