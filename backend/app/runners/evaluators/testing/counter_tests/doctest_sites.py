"""Reads the doctests of a source, and finds where their expected output can be changed."""

import ast
import doctest
import posixpath
import re
import string
from collections.abc import Iterator, Sequence
from random import Random

from app.runners.evaluators.source_edits import Edit, Source
from app.runners.evaluators.testing.counter_tests.reading import TestFile, TestFunction
from app.runners.evaluators.testing.counter_tests.sites import Kind, Site
from app.runners.evaluators.testing.layout.doctests import docstrings

_LENIENT = ("...", "<BLANKLINE>", "Traceback (")
"""Expected output with one of these is compared in a special way."""
_KINDS = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_SHOWN_CHARS = 120


def read_doctests(name: str, content: bytes, tests: Sequence[str], chance: Random) -> TestFile | None:
    """Read the doctests of a source. Return None if it is not UTF-8, cannot be parsed or has none.

    Args:
        name: POSIX path relative to the tree.
        content: the source.
        tests: names of its doctests, as in their ids after `::`.
        chance: draws the wrong outputs.
    """
    try:
        source = Source(content)
        lines = re.split(r"\r\n|\n|\r", content.decode())
        functions = {
            test: TestFunction(test, tuple(_sites(node, source, lines, chance)), 0, None)
            for place, node in docstrings(content)
            for test in tests
            if _belongs(test, place, name)
        }
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return TestFile(name, source, functions, {}, (), is_source=True) if functions else None


def _belongs(test: str, place: str, name: str) -> bool:
    """Return True if a doctest named `package.module.function` is that of `.function` in this file."""
    module = test.removesuffix(place) if place else test
    stem = posixpath.basename(name).removesuffix(".py")
    last = posixpath.basename(posixpath.dirname(name)) if stem == "__init__" else stem
    return test.endswith(place) and module.rpartition(".")[2] == last


def _sites(node: ast.Constant, source: Source, lines: Sequence[str], chance: Random) -> Iterator[Site]:
    for example in doctest.DocTestParser().get_examples(str(node.value)):
        if example.options.get(doctest.SKIP) or any(each in example.want for each in _LENIENT):
            continue
        number = node.lineno + example.lineno + example.source.count("\n")
        for wanted in example.want.splitlines():
            edits = tuple(_edits(wanted.strip(), number, source, lines, chance))
            if edits:
                shown = " ".join(example.source.split())[:_SHOWN_CHARS]
                yield Site(number, shown, Kind.VALUE, certain=True, edits=edits)
            number += 1


def _edits(
    wanted: str, number: int, source: Source, lines: Sequence[str], chance: Random
) -> Iterator[tuple[Edit, ...]]:
    """Yield two wrong outputs for one line: one with another letter or digit, one with additional ones."""
    line = lines[number - 1] if number <= len(lines) else ""
    places = [i for i, letter in enumerate(wanted) if letter in string.ascii_letters + string.digits]
    # If the text has escapes or continued lines, its source differs from its value.
    if not places or line.strip() != wanted or not line.isascii():
        return
    start = source.line_start(number) + line.index(wanted)
    place = chance.choice(places)
    kind = next(each for each in _KINDS if wanted[place] in each)
    other = chance.choice([each for each in kind if each != wanted[place]])
    yield (Edit(start + place, start + place + 1, other.encode()),)
    added = chance.choice(string.ascii_lowercase) + chance.choice(string.digits)
    yield (Edit(start + place + 1, start + place + 1, added.encode()),)
