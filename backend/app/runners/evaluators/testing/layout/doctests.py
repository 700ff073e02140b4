"""Runs the base's doctests on a candidate's sources, which hold doctests of their own."""

import ast
import doctest
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

from app.core.python_source import parse_module
from app.runners.evaluators.tree_files import small_file

_RUNS_DOCTESTS = re.compile(rb"^[ \t]*(?:import doctest\b|from doctest import\b)", re.MULTILINE)
_GETS_FIXTURE = re.compile(rb"\bgetfixture\(\s*['\"](\w+)['\"]")
_WITH_DOCTESTS = (".py", ".rst", ".txt", ".md")
_Examples = Sequence[tuple[str, str, tuple[tuple[int, bool], ...]]]
_Holder = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


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


def runs_doctests(root: Path, tests: Iterable[str]) -> bool:
    """Return True if tests of a tree run the doctests of its sources by themselves, with `doctest`."""
    return any(_RUNS_DOCTESTS.search(small_file(root / name)) for name in tests if name.endswith(".py"))


def changed_doctests(before: bytes, after: bytes) -> tuple[str, str]:
    """Return the docstrings of a source whose doctests were changed or removed, and what is there now.

    Raises:
        SyntaxError, ValueError: a source cannot be parsed.
    """
    texts = [
        (
            ast.get_source_segment(_decoded(before), old) or "",
            ast.get_source_segment(_decoded(after), new) or "",
        )
        for old, new in _changed(before, after)
    ]
    return "\n\n".join(old for old, _ in texts), "\n\n".join(new for _, new in texts)


def fixtures_of_doctests(tree: Path, names: Iterable[str]) -> list[str]:
    """Return the fixtures that doctests ask for by name, in files of a tree."""
    texts = (small_file(tree / name) for name in names if name.endswith(_WITH_DOCTESTS))
    return sorted({found.decode() for text in texts for found in _GETS_FIXTURE.findall(text)})


def _rewritten(before: bytes, after: bytes) -> bytes | None:
    """Replace docstrings with those of the base. Return None if none must be replaced."""
    try:
        changed = _changed(before, after)
        text = _decoded(before)
        texts = [ast.get_source_segment(text, old) or "" for old, _ in changed]
        # Positions count the bytes of UTF-8.
        encoding, after = _encoding_of(after), _decoded(after).encode()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    edits = [(new, text) for (_, new), text in zip(changed, texts, strict=True)]
    lines = after.splitlines(keepends=True)
    starts = list(accumulate(map(len, lines), initial=0))
    for node, text in sorted(edits, key=lambda each: -each[0].lineno):
        start = starts[_first_line(node) - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        if isinstance(node, ast.stmt):
            # Without a docstring, the base's comes before the first statement.
            after = after[:start] + text.encode() + b"\n" + b" " * node.col_offset + after[start:]
        else:
            after = after[:start] + text.encode() + after[end:]
    return after.decode().encode(encoding, "backslashreplace") if edits else None


def _encoding_of(source: bytes) -> str:
    return tokenize.detect_encoding(io.BytesIO(source).readline)[0]


def _decoded(source: bytes) -> str:
    return source.decode(_encoding_of(source))


def _first_line(node: ast.Constant | ast.stmt) -> int:
    """Return the line where a docstring or a statement begins, with its decorators."""
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    return min(each.lineno for each in (node, *decorators))


def _changed(before: bytes, after: bytes) -> list[tuple[ast.Constant, ast.Constant | ast.stmt]]:
    """Return the docstrings of the base whose doctests are not all in the candidate's.

    Each comes with the candidate's, or with the first statement where there is none.
    """
    holders = dict(_holders(after))
    changed: list[tuple[ast.Constant, ast.Constant | ast.stmt]] = []
    for name, old in docstrings(before):
        examples = _examples(old.value)
        if not examples or name not in holders:
            continue
        new = _docstring_of(holders[name])
        if new is not None and _holds(_examples(new.value), examples):
            continue
        first = holders[name].body[:1]
        if new is not None:
            changed.append((old, new))
        elif first and first[0].lineno > getattr(holders[name], "lineno", 0):
            changed.append((old, first[0]))
    return changed


def docstrings(content: bytes) -> Iterator[tuple[str, ast.Constant]]:
    """Yield docstrings, each with the name of its owner: `""`, `.function`, `.Class.method`.

    Raises:
        SyntaxError: the source cannot be parsed.
    """
    for name, holder in _holders(content):
        text = _docstring_of(holder)
        if text is not None:
            yield name, text


def _holders(content: bytes) -> Iterator[tuple[str, _Holder]]:
    waiting: list[tuple[str, _Holder]] = [("", parse_module(content))]
    while waiting:
        name, holder = waiting.pop()
        yield name, holder
        for each in ast.iter_child_nodes(holder):
            if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                waiting.append((f"{name}.{each.name}", each))


def _docstring_of(holder: _Holder) -> ast.Constant | None:
    match holder.body[:1]:
        case [ast.Expr(value=ast.Constant(value=str()) as text)]:
            return text
        case _:
            return None


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
