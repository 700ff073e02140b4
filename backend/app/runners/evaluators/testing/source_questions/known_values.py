"""Collects the plain values that a source knows: literals, their parts, and what encoded texts contain."""

import ast
import codecs
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from app.runners.evaluators.testing.source_questions.expectations import literal
from app.runners.evaluators.testing.source_questions.hidden_code import unpacked
from app.runners.evaluators.testing.source_questions.known_answers import (
    Table,
    plain_text,
    tables_of_json,
)

_SEPARATORS = (r"\s+", r"[;,|=\t\n]", r"[:,/]", r"[\s;,|=:]+")
_QUOTED = re.compile(r"""["']([^"']*)["']|(?<![\w.])(-?\d+)(?![\w.])""")
_LEAST_PACKED = 16
_MOST_PACKED = 100_000
_DEEPEST = 3
_LEAST_CODES = 4
_LAST_CODE = 0x10FFFF

Known = dict[str, int]
"""Values as text, each with the first line that holds it."""


def known_values(module: ast.Module) -> Known:
    """Return the values that a module knows. Docstrings count only if the module reads some."""
    told = {id(each.value) for each in ast.walk(module) if isinstance(each, ast.Expr)}
    if any(isinstance(each, ast.Attribute) and each.attr == "__doc__" for each in ast.walk(module)):
        told = set[int]()
    found: Known = {}
    for node in ast.walk(module):
        if not isinstance(node, ast.expr) or id(node) in told:
            continue
        value = literal(node)
        if value is None or isinstance(value, bool):
            continue
        for each in _forms(value):
            found.setdefault(each, node.lineno)
    return found


def values_of_data(data: bytes) -> Known:
    """Return the values of a data file, also if it is packed or encoded."""
    texts = [data.decode("utf-8", "replace"), *_decoded(data)]
    return {each: line for text in reversed(texts) for each, line in _values_of_text(text).items()}


def _values_of_text(text: str) -> Known:
    """Return the words, the separated parts and the quoted texts of a data file, each with its line."""
    found: Known = {}
    for number, line in enumerate(text.splitlines(), 1):
        for each in (*_parts(line), *_quoted(line)):
            found.setdefault(each, number)
    return found


def _forms(value: object) -> Iterator[str]:
    """Yield a value as text, also backwards, its parts, and what it is a code of."""
    yield plain_text(value)
    if isinstance(value, str):
        yield value[::-1]
        yield codecs.encode(value, "rot13")
        yield from _parts(value)
        yield from _parts(value[::-1])
        yield from _hidden(value.encode("utf-8", "replace"))
    elif isinstance(value, bytes):
        yield from _parts(value.decode("latin-1"))
        yield from _hidden(value)
    elif isinstance(value, list | tuple):
        codes = cast("list[object]", value)
        if len(codes) >= _LEAST_CODES and all(map(_is_code, codes)):
            yield from _forms("".join(chr(each) for each in codes if isinstance(each, int)))


def _is_code(value: object) -> bool:
    return isinstance(value, int) and 0 < value <= _LAST_CODE


def _parts(text: str) -> Iterator[str]:
    for separator in _SEPARATORS:
        parts = re.split(separator, text)
        if len(parts) > 1:
            yield from (each.strip() for each in parts)


def _quoted(text: str) -> Iterator[str]:
    """Yield the quoted texts and the whole numbers in a text."""
    yield from (one or other for one, other in _QUOTED.findall(text))


def tables_in_texts(module: ast.Module) -> Iterator[Table]:
    """Yield the tables in JSON texts that a module has as literals, also packed or encoded."""
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            data = node.value.encode("utf-8", "replace") if isinstance(node.value, str) else node.value
            for text in (data.decode("utf-8", "replace"), *_decoded(data)):
                for table in tables_of_json(text):
                    yield tuple(replace(each, line=node.lineno) for each in table)


def _hidden(data: bytes) -> Iterator[str]:
    """Yield the quoted texts, numbers and parts of what is packed or encoded in some bytes."""
    for text in _decoded(data):
        yield text
        yield from _parts(text)
        yield from _quoted(text)


def _decoded(data: bytes, depth: int = 0) -> Iterator[str]:
    """Yield the texts that are packed or encoded in some bytes."""
    if not _LEAST_PACKED <= len(data) <= _MOST_PACKED or depth == _DEEPEST:
        return
    for each in unpacked(data):
        text = each[:_MOST_PACKED].decode("utf-8", "replace")
        if text.isprintable() or "\n" in text:
            yield text
        yield from _decoded(each, depth + 1)
