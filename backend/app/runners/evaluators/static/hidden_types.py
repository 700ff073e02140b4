"""Finds type errors that a new cast, or a new variable of type Any, hides from the checker."""

import ast
import asyncio
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeGuard

from app.core.python_source import parse_module
from app.runners.evaluators.static.annotated import is_of_tests
from app.runners.evaluators.static.baseline import Comparison, Finding
from app.runners.evaluators.static.trees import StaticTrees
from app.runners.evaluators.static.type_tool import TypeChecker
from app.schemas.questions import ProtectedPolicy

WHY = "a new cast or `Any` hides it, although no value is of both types"

_PLAIN = frozenset({"int", "str", "bytes", "float", "bool", "list", "dict", "set", "frozenset", "tuple"})
_TYPES = (
    re.compile(r'got "([^"]+)", expected "([^"]+)"'),
    re.compile(r'incompatible type "([^"]+)"; expected "([^"]+)"'),
    re.compile(r'expression has type "([^"]+)", variable has type "([^"]+)"'),
    re.compile(r'Type "([^"]+)" is not assignable to (?:return|declared) type "([^"]+)"'),
    re.compile(r'Argument of type "([^"]+)" cannot be assigned to parameter "[^"]+" of type "([^"]+)"'),
)
_ALSO = frozenset({("float", "int"), ("int", "bool"), ("list", "tuple")})
"""Pairs of types for which honest code knows better than the checker."""

_Escape = ast.Call | ast.AnnAssign


@dataclass(frozen=True, slots=True)
class _Cut:
    """Bytes of a source to replace."""

    start: int
    end: int
    text: bytes


async def hidden_types(
    checker: TypeChecker, trees: StaticTrees, wanted: Sequence[str], found: Sequence[Finding]
) -> list[Finding]:
    """Return the errors that appear without the candidate's new casts and variables of type Any.

    Only an error about two plain types that have no value in common counts. What a checker cannot know, such
    as the content of a JSON text, is a reason for a cast.

    Args:
        checker: the checker.
        trees: the candidate's copy and the base.
        wanted: the files that are checked.
        found: the findings with the casts.
    """
    if trees.base is None:
        return []
    base = trees.base.path
    changed = [each for each in wanted if each in trees.changed and not is_of_tests(each)]
    texts = await asyncio.to_thread(_without_escapes, trees.copy.path, base, changed)
    if not texts:
        return []
    before = await asyncio.to_thread(_swapped, trees.copy.path, texts)
    try:
        again = await checker.check(trees.copy.path, wanted, trees.changed)
    finally:
        await asyncio.to_thread(_swapped, trees.copy.path, before)
    known = {(each.file, each.rule, each.message) for each in found}
    new = [each for each in again.found if each.file in texts]
    new = [each for each in new if (each.file, each.rule, each.message) not in known]
    return [replace(each, message=f"{each.message} ({WHY})") for each in new if contradicts(each.message)]


def with_hidden(comparison: Comparison, hidden: Sequence[Finding], policy: ProtectedPolicy) -> Comparison:
    """Return a comparison with further findings, about which a person is asked; with *fail* they count."""
    if policy is ProtectedPolicy.FAIL:
        return replace(comparison, new=(*comparison.new, *hidden))
    return replace(comparison, doubts={**comparison.doubts, **dict.fromkeys(hidden, WHY)})


def contradicts(message: str) -> bool:
    """Return True if a checker's message is about two plain types that have no value in common."""
    for pattern in _TYPES:
        if named := pattern.search(message):
            got, expected = (each.partition("[")[0].rpartition(".")[2] for each in named.groups())
            is_plain = got in _PLAIN and expected in _PLAIN and "|" not in named[1] + named[2]
            return is_plain and got != expected and (got, expected) not in _ALSO
    return False


def without_escapes(text: bytes, base: bytes) -> bytes | None:
    """Return a source without the casts and variables of type Any that its base does not have.

    Lines stay in their places. Return None if there are none, or if the source cannot be parsed.
    """
    try:
        module, known = parse_module(text), _shown(base)
        new = [each for each in _escapes(module) if ast.unparse(each) not in known]
        cuts = [cut for each in new if (cut := _cut(text, each)) is not None]
        changed = _applied(text, cuts)
        parse_module(changed)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return changed if cuts else None


def _shown(base: bytes) -> Collection[str]:
    return {ast.unparse(each) for each in _escapes(parse_module(base))}


def _escapes(module: ast.Module) -> Iterator[_Escape]:
    """Yield casts, and variables of type Any that are assigned once."""
    for scope in ast.walk(module):
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            stored = [
                each.id
                for each in ast.walk(scope)
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            ]
            yield from (each for each in scope.body if _is_any(each, stored))
        elif isinstance(scope, ast.Call) and _is_cast(scope):
            yield scope


def _is_any(node: ast.stmt, stored: Sequence[str]) -> TypeGuard[ast.AnnAssign]:
    if not isinstance(node, ast.AnnAssign) or node.value is None or not isinstance(node.target, ast.Name):
        return False
    return ast.unparse(node.annotation) in ("Any", "typing.Any") and stored.count(node.target.id) == 1


def _is_cast(call: ast.Call) -> bool:
    return ast.unparse(call.func) in ("cast", "typing.cast") and len(call.args) == 2 and not call.keywords


def _cut(text: bytes, node: _Escape) -> _Cut | None:
    """Return what to replace: the type of a cast, or the annotation of a variable."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(line: int, column: int) -> int:
        return starts[line - 1] + column

    if isinstance(node, ast.Call):
        value = node.args[1]
        start, end = place(node.lineno, node.col_offset), place(value.lineno, value.col_offset)
        after = text[place(value.end_lineno or 0, value.end_col_offset or 0) :]
        if not after.lstrip().startswith(b")"):
            return None
        return _Cut(start, end, b"(" + b"\n" * text[start:end].count(b"\n"))
    value = node.value
    if value is None or value.lineno != node.lineno:
        return None
    start = place(node.target.end_lineno or 0, node.target.end_col_offset or 0)
    return _Cut(start, place(value.lineno, value.col_offset), b" = ")


def _applied(text: bytes, cuts: Sequence[_Cut]) -> bytes:
    for each in sorted(cuts, key=lambda each: each.start, reverse=True):
        text = text[: each.start] + each.text + text[each.end :]
    return text


def _without_escapes(copy: Path, base: Path, files: Sequence[str]) -> dict[str, bytes]:
    found = {name: without_escapes(_read(copy / name), _read(base / name)) for name in files}
    return {name: text for name, text in found.items() if text is not None}


def _swapped(copy: Path, texts: Mapping[str, bytes]) -> dict[str, bytes]:
    """Write files; return what was in them."""
    before = {name: _read(copy / name) for name in texts}
    for name, text in texts.items():
        (copy / name).write_bytes(text)
    return before


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
