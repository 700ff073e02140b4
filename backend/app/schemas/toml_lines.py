"""Finds the line on which a TOML document sets a key, so that an error can name it."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import cast

Key = str | int
Place = tuple[Key, ...]
"""Keys from the root of the document; numbers from 0 for the items of arrays."""

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?!")'
    r"|'''.*?'''(?!')"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*"
    r"|[\[\]{}]"
    r"|\n",
    re.DOTALL,
)


def lines_of(text: str) -> dict[Place, int]:
    """Return the line, from 1, on which a valid document first sets each place.

    Raises:
        tomllib.TOMLDecodeError: it is not valid.
    """
    tomllib.loads(text)
    lines: dict[Place, int] = {}
    tables: dict[Place, int] = {}
    here: Place = ()
    for number, statement in _statements(text):
        if statement.lstrip().startswith("["):
            here = _table(statement, tables)
            lines.setdefault(here, number)
            for depth in range(1, len(here)):
                lines.setdefault(here[:depth], number)
        else:
            for place in _places(tomllib.loads(statement)):
                lines.setdefault(here + place, number)
    return lines


def line_of(lines: Mapping[Place, int], place: Place) -> int | None:
    """Return the line of a place, or of the nearest enclosing place; keys that do not exist are skipped."""
    found: Place = ()
    for key in place:
        if (*found, key) in lines:
            found = (*found, key)
    return lines.get(found)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each table header, and each key with its value, with the line on which it starts."""
    text = text.replace("\r\n", "\n")
    start, depth, line, begins = 0, 0, 1, 1
    for token in _TOKEN.finditer(text + "\n"):
        found = token.group()
        if found in "[{":
            depth += 1
        elif found in "]}":
            depth -= 1
        elif found == "\n" and depth == 0:
            yield from _said(begins, text[start : token.start()])
            start, begins = token.end(), line + 1
        line += found.count("\n")


def _said(line: int, text: str) -> Iterator[tuple[int, str]]:
    said = text.lstrip()
    if said and not said.startswith("#"):
        yield line, text


def _table(header: str, tables: dict[Place, int]) -> Place:
    """Return the place of a header's table; `tables` counts the items of arrays of tables."""
    content = tomllib.loads(header)
    names: list[str] = []
    inner: object = content
    while isinstance(inner, dict) and inner:
        name, inner = next(iter(cast("dict[str, object]", inner).items()))
        names.append(name)
    is_item = isinstance(inner, list)
    place: Place = ()
    for depth, name in enumerate(names, start=1):
        place = (*place, name)
        if depth == len(names) and is_item:
            tables[place] = tables.get(place, -1) + 1
        if place in tables:
            place = (*place, tables[place])
    return place


def _places(value: object) -> Iterator[Place]:
    items: Iterator[tuple[Key, object]] = iter(())
    if isinstance(value, dict):
        items = iter(cast("dict[Key, object]", value).items())
    elif isinstance(value, list):
        items = iter(enumerate(cast("list[object]", value)))
    for key, inner in items:
        yield (key,)
        for rest in _places(inner):
            yield (key, *rest)
