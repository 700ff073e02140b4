"""Writes the body of an overloaded function below each of its promises, so that a checker compares them."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.core.python_source import parse_module
from app.runners.evaluators.source_edits import Edit, Source, apply_edits, outermost

_MOST = 4

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class OverloadVariant:
    """A version of a source in which overloaded functions have one signature each.

    Attributes:
        text: the source.
        lines: the lines of these functions. Only there a checker compares them with their promises.
    """

    text: bytes
    lines: frozenset[int]


_Group = tuple[list[_Function], _Function]


def overload_variants(text: bytes, base: bytes) -> list[OverloadVariant]:
    """Return versions of a source in which new overloaded functions have one of their signatures each.

    Lines stay in their places. Return nothing if no function is newly overloaded.
    """
    try:
        known = {_shown(each) for each in _groups(parse_module(base))}
        groups = [each for each in _groups(parse_module(text)) if _shown(each) not in known]
        most = min(_MOST, max((len(stubs) for stubs, _ in groups), default=0))
        return [_variant(text, groups, number) for number in range(most)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _variant(text: bytes, groups: Sequence[_Group], number: int) -> OverloadVariant:
    source = Source(text)
    edits: list[Edit] = []
    for stubs, function in groups:
        edits += [_removed(each, source) for each in stubs]
        edits.append(_header(stubs[min(number, len(stubs) - 1)], function, source))
    changed = apply_edits(text, outermost(edits))
    parse_module(changed)
    lines = [each for _, one in groups for each in range(one.lineno, (one.end_lineno or one.lineno) + 1)]
    return OverloadVariant(changed, frozenset(lines))


def _removed(stub: _Function, source: Source) -> Edit:
    """Return the cut that leaves only an expression of a stub."""
    first = min((each.lineno for each in stub.decorator_list), default=stub.lineno)
    start = source.line_start(first) + stub.col_offset
    end = source.end(stub)
    return Edit(start, end, b"..." + b"\n" * source.content[start:end].count(b"\n"))


def _header(stub: _Function, function: _Function, source: Source) -> Edit:
    """Return the cut that gives a function the signature of a stub."""
    start, end = source.start(function), source.start(function.body[0])
    lines = source.content[start:end].count(b"\n")
    word = "async def" if isinstance(function, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(stub.returns)}" if stub.returns else ""
    header = f"{word} {function.name}({ast.unparse(stub.args)}){returns}:".encode()
    indent = b" " * function.body[0].col_offset if lines else b" "
    return Edit(start, end, header + b"\n" * lines + indent)


def _groups(module: ast.Module) -> Iterator[_Group]:
    """Yield the overloads of each function, and the function that follows them."""
    for scope in ast.walk(module):
        if not isinstance(scope, ast.Module | ast.ClassDef):
            continue
        stubs: dict[str, list[_Function]] = defaultdict(list)
        for each in scope.body:
            if not isinstance(each, _Function):
                continue
            if any(ast.unparse(one).rpartition(".")[2] == "overload" for one in each.decorator_list):
                stubs[each.name].append(each)
            elif found := stubs.pop(each.name, None):
                yield found, each


def _shown(group: _Group) -> str:
    stubs, function = group
    return "\n".join(ast.unparse(each) for each in (*stubs, function))
