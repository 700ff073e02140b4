"""Runs the base's doctests on a candidate's sources, which hold doctests of their own."""

import ast
import doctest
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from app.core.python_source import parse_module
from app.runners.evaluators.tree_files import small_file

_GETS_FIXTURE = re.compile(rb"\bgetfixture\(\s*['\"](\w+)['\"]")
_WITH_DOCTESTS = (".py", ".rst", ".txt", ".md")
_Examples = Sequence[tuple[str, str, tuple[tuple[int, bool], ...]]]


def with_base_doctests(base: Path, workspace: Path, names: Sequence[str]) -> dict[str, bytes]:
    """Return the candidate's sources with changed or missing doctests, with the base's docstrings in them.

    Args:
        base: the base tree.
        workspace: the candidate's tree.
        names: Python files that both have.
    """
    found: dict[str, bytes] = {}
    for name in names:
        before, after = small_file(base / name), small_file(workspace / name)
        if before == after or b">>>" not in before:
            continue
        text = _rewritten(before, after)
        if text is not None:
            found[name] = text
    return found


def fixtures_of_doctests(tree: Path, names: Iterable[str]) -> list[str]:
    """Return the fixtures that doctests ask for by name, in files of a tree."""
    texts = (small_file(tree / name) for name in names if name.endswith(_WITH_DOCTESTS))
    return sorted({found.decode() for text in texts for found in _GETS_FIXTURE.findall(text)})


def _rewritten(before: bytes, after: bytes) -> bytes | None:
    """Replace docstrings with those of the base. Return None if none must be replaced."""
    try:
        old, new = dict(docstrings(before)), dict(docstrings(after))
        edits = [
            (new[name], ast.get_source_segment(before.decode(), node) or "")
            for name, node in old.items()
            if name in new and not _holds(_examples(new[name].value), _examples(node.value))
        ]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    lines = after.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    for node, text in sorted(edits, key=lambda each: -each[0].lineno):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        after = after[:start] + text.encode() + after[end:]
    return after if edits else None


def docstrings(content: bytes) -> Iterator[tuple[str, ast.Constant]]:
    """Yield docstrings, each with the name of its owner: `""`, `.function`, `.Class.method`.

    Raises:
        SyntaxError: the source cannot be parsed.
    """
    waiting: list[tuple[str, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]] = [
        ("", parse_module(content))
    ]
    while waiting:
        name, holder = waiting.pop()
        match holder.body[:1]:
            case [ast.Expr(value=ast.Constant(value=str()) as text)]:
                yield name, text
            case _:
                pass
        for each in ast.iter_child_nodes(holder):
            if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                waiting.append((f"{name}.{each.name}", each))


def _examples(text: object) -> _Examples:
    """Return source, expected output and options of each example.

    Raises:
        ValueError: the text is not well formed.
    """
    found = doctest.DocTestParser().get_examples(str(text))
    return [(each.source, each.want, _options(each.options)) for each in found]


def _options(options: Mapping[int, bool]) -> tuple[tuple[int, bool], ...]:
    return tuple(sorted(options.items()))


def _holds(new: _Examples, old: _Examples) -> bool:
    """Return True if all old examples are among the new ones, in order."""
    rest = iter(new)
    return all(each in rest for each in old)
