"""Edits of a Python source by position that keep all lines in place."""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replaces the bytes from `start` up to `end` by `text`."""

    start: int
    end: int
    text: bytes


class Source:
    """The bytes of a UTF-8 source file, addressed by the nodes of its syntax tree.

    Attributes:
        content: the file.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        # Python's parser ends lines at these three, but not at all line ends of `splitlines`.
        self._starts = [0, *(each.end() for each in re.finditer(rb"\r\n|\n|\r", content))]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the start and end of a node, in bytes."""
        return self.start(node), self.end(node)

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Return the start of a node, in bytes."""
        return self.line_start(node.lineno) + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Return the end of a node, in bytes."""
        return self.line_start(node.end_lineno or node.lineno) + (node.end_col_offset or 0)

    def line_start(self, number: int) -> int:
        """Return the start of a line, in bytes. The first line has number 1."""
        return self._starts[number - 1]

    def text(self, node: ast.expr | ast.stmt) -> bytes:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.content[start:end]

    def replaced(self, node: ast.expr | ast.stmt, text: bytes) -> Edit:
        """Return the edit that replaces an expression with text and keeps the number of lines."""
        start, end = self.span(node)
        missing = self.content[start:end].count(b"\n") - text.count(b"\n")
        return Edit(start, end, b"(" + text + b"\n" * missing + b")" if missing > 0 else text)

    def wrapped(self, node: ast.expr, before: bytes, after: bytes) -> tuple[Edit, Edit]:
        """Return the edits that put text around an expression."""
        start, end = self.span(node)
        return Edit(start, start, before), Edit(end, end, after)


def outermost(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits that do not begin inside of an earlier or larger one."""
    found: list[Edit] = []
    for each in sorted(edits, key=lambda each: (each.start, -each.end)):
        if not found or each.start >= found[-1].end:
            found.append(each)
    return found


def apply_edits(content: bytes, edits: Iterable[Edit]) -> bytes:
    """Apply edits that do not overlap.

    Raises:
        ValueError: two of them overlap.
    """
    parts: list[bytes] = []
    done = 0
    for edit in sorted(set(edits)):
        if edit.start < done:
            raise ValueError(f"edits overlap at byte {edit.start}")
        parts += [content[done : edit.start], edit.text]
        done = edit.end
    return b"".join([*parts, content[done:]])
