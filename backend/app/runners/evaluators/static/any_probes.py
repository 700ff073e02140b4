"""Finds what a checker knows about new parameters and results that are annotated as Any.

Each is first annotated as a separate exception. The checker's errors then name the types that meet it. If
all of these are one plain type, it is annotated as that type.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.core.python_source import parse_module
from app.runners.evaluators.source_edits import Edit, Source, apply_edits, outermost
from app.runners.evaluators.static.type_names import typing_names

_KINDS = (
    *("ArithmeticError", "AssertionError", "AttributeError", "BlockingIOError", "BrokenPipeError"),
    *(
        "BufferError",
        "BytesWarning",
        "ChildProcessError",
        "ConnectionError",
        "EOFError",
        "FloatingPointError",
    ),
    *("FutureWarning", "ImportWarning", "IndentationError", "InterruptedError", "MemoryError", "TabError"),
    *("RecursionError", "ReferenceError", "ResourceWarning", "StopAsyncIteration", "UnicodeTranslateError"),
)
_WORD = re.compile(r'"([^"]+)"')


@dataclass(frozen=True, slots=True)
class Probe:
    """An annotation as Any, and the exception that stands for it.

    Attributes:
        start: first byte of the annotation.
        end: the byte after it.
        kind: the exception.
    """

    start: int
    end: int
    kind: str


def probes_of(text: bytes, base: bytes) -> list[Probe]:
    """Return a probe for each parameter and result that is Any in new functions of a source."""
    try:
        known = {_shown(each) for each in _functions(parse_module(base))}
        module, source = parse_module(text), Source(text)
        names = typing_names(module)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[ast.expr] = []
    for function in _functions(module):
        if _shown(function) not in known:
            found += (each for each in _annotations(function) if names.get(ast.unparse(each)) == "Any")
    kinds = [each for each in _KINDS if each.encode() not in text]
    pairs = zip(found, kinds, strict=False)
    return [Probe(source.start(each), source.end(each), kind) for each, kind in pairs]


def with_probes(text: bytes, probes: Iterable[Probe]) -> bytes:
    """Return a source with exceptions in place of Any."""
    return apply_edits(text, outermost([Edit(each.start, each.end, each.kind.encode()) for each in probes]))


def with_types(text: bytes, probes: Iterable[Probe], messages: Iterable[str], plain: frozenset[str]) -> bytes:
    """Return a source with the types that the checker named in place of Any.

    Args:
        text: the source without probes.
        probes: its probes.
        messages: the checker's errors in the source with probes.
        plain: names of the types that count.
    """
    met: dict[str, set[str]] = defaultdict(set)
    for message in messages:
        named = _WORD.findall(message)
        for kind, other in zip(named[1:], named, strict=False):
            met[kind].add(other)
    edits: list[Edit] = []
    for each in probes:
        types = met[each.kind]
        only = next(iter(types)) if len(types) == 1 else ""
        if only.partition("[")[0].rpartition(".")[2] in plain:
            edits.append(Edit(each.start, each.end, only.encode()))
    return apply_edits(text, outermost(edits))


def _functions(module: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _annotations(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    given = function.args
    for each in (*given.posonlyargs, *given.args, *given.kwonlyargs):
        if each.annotation is not None:
            yield each.annotation
    if function.returns is not None:
        yield function.returns


def _shown(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    returns = ast.unparse(function.returns) if function.returns else ""
    return f"{function.name}({ast.unparse(function.args)}) -> {returns}"
