"""Cuts rows and statements out of Python source, and keeps the rest of the text as it is."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

Part = Literal["body", "elts"]
Node = ast.expr | ast.stmt


@dataclass(frozen=True, slots=True)
class Cut:
    """Some items of one node: statements of a body, or elements of a list or tuple.

    Attributes:
        kind: name of the node's class.
        line, column: where the node begins; 0 for a module.
        part: the field with the items.
        indices: which items to cut, in ascending order.
    """

    kind: str
    line: int
    column: int
    part: Part
    indices: tuple[int, ...]

    @classmethod
    def of(cls, node: ast.AST, part: Part, indices: Sequence[int]) -> Self:
        """Return the cut of some items of a node."""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        return cls(type(node).__name__, line, column, part, tuple(sorted(indices)))

    def find_in(self, module: ast.Module) -> ast.AST | None:
        """Return the node in a freshly parsed module."""
        for node in ast.walk(module):
            place = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
            if type(node).__name__ == self.kind and place == (self.line, self.column):
                return node
        return None


def without(source: str, cuts: Sequence[Cut]) -> str | None:
    """Return the source without the items of some cuts, none of which lies in another.

    None if the text cannot be cut there without changing something else, such as two statements in a line.
    """
    module = ast.parse(source)
    data = source.encode()
    spans, places = _Spans(data), list[tuple[int, int]]()
    for cut in _merged(cuts):
        node = cut.find_in(module)
        if node is None:
            return None
        items: list[Node] = getattr(node, cut.part)
        places += [spans.of(items, first, last) for first, last in _runs(cut.indices)]
        for index in reversed(cut.indices):
            del items[index]
    for start, end in sorted(places, reverse=True):
        data = data[:start] + data[end:]
    text = data.decode()
    return text if _is(text, module) else None


def _merged(cuts: Sequence[Cut]) -> Iterator[Cut]:
    """Yield one cut for all that concern the same node."""
    found: dict[Cut, list[int]] = {}
    for cut in cuts:
        found.setdefault(replace(cut, indices=()), []).extend(cut.indices)
    for cut, indices in found.items():
        yield replace(cut, indices=tuple(sorted(set(indices))))


def _is(text: str, expected: ast.Module) -> bool:
    try:
        return ast.dump(ast.parse(text)) == ast.dump(expected)
    except (SyntaxError, ValueError):
        return False


def _runs(indices: Sequence[int]) -> list[tuple[int, int]]:
    """Return neighbouring indices as pairs of first and last."""
    runs: list[tuple[int, int]] = []
    for index in indices:
        if runs and runs[-1][1] == index - 1:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return runs


class _Spans:
    """Byte offsets of nodes in a source."""

    def __init__(self, data: bytes) -> None:
        self._lines = [0]
        for line in data.split(b"\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)
        self._size = len(data)

    def of(self, items: Sequence[Node], first: int, last: int) -> tuple[int, int]:
        """Return where neighbouring items begin and end, with what separates them from others."""
        if isinstance(items[first], ast.stmt):
            return self._lines[_first_line(items[first]) - 1], min(
                self._lines[_last_line(items[last])], self._size
            )
        if last + 1 < len(items):
            return self._start(items[first]), self._start(items[last + 1])
        if first:
            return self._end(items[first - 1]), self._end(items[last])
        return self._start(items[first]), self._end(items[last])

    def _start(self, node: Node) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def _end(self, node: Node) -> int:
        return self._lines[_last_line(node) - 1] + (node.end_col_offset or 0)


def _first_line(node: Node) -> int:
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    return min(each.lineno for each in (node, *decorators))


def _last_line(node: Node) -> int:
    return node.end_lineno or node.lineno
