"""Tests inside Rust sources: puts the base's `#[cfg(test)] mod` into the candidate's file. Pure."""

import re
from bisect import bisect_left

_OPENING = re.compile(
    r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*([{;]))?"
)
"""Attributes, and the start of the module that follows, or the declaration of one in another file."""

# An unclosed comment or string ends with the text. Otherwise, each further one would be searched to the end.
_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|b?r(?P<hash>\#*)".*?(?:"(?P=hash)|\Z)"""
    r"""|b?"(?:\\.|[^"\\])*(?:"|\\?\Z)|'(?:\\.[^']*|[^'\\\n])'|[{}]""",
    re.DOTALL,
)


def with_tests_of(base: str, candidate: str) -> str:
    """Return the candidate's source with the base's test modules in place of the candidate's.

    A module and a declaration (`mod tests;`) stand for each other, as tests may move to another file.
    """
    wanted = _modules(base)
    if not wanted:
        return candidate
    present = _modules(candidate)
    if all(present.get(name, (0, 0, ""))[2] == text for name, (_, _, text) in wanted.items()):
        return candidate
    made = candidate
    for name, (start, end, _) in sorted(present.items(), key=lambda item: -item[1][0]):
        if name in wanted:
            made = made[:start] + wanted[name][2] + made[end:]
    missing = [text for name, (_, _, text) in wanted.items() if name not in present]
    return "\n\n".join([made.rstrip("\n"), *missing]) + "\n" if missing else made


def _modules(text: str) -> dict[str, tuple[int, int, str]]:
    found: dict[str, tuple[int, int, str]] = {}
    place = 0
    hidden = _hidden(text)
    while opening := _OPENING.search(text, place):
        place = opening.end()
        if not opening[1] or _is_in(hidden, opening.start()):
            continue
        end = _closing(text, opening.end()) if opening[2] == "{" else opening.end()
        found.setdefault(opening[1], (opening.start(), end, text[opening.start() : end]))
        place = end
    return found


def _hidden(text: str) -> list[tuple[int, int]]:
    """Return the ranges of comments and strings."""
    return [each.span() for each in _TOKEN.finditer(text) if each[0] not in "{}"]


def _is_in(ranges: list[tuple[int, int]], place: int) -> bool:
    """Return True if a place is inside one of the ranges, which are in order."""
    before = bisect_left(ranges, (place, 0))
    return before > 0 and place < ranges[before - 1][1]


def _closing(text: str, start: int) -> int:
    depth = 1
    for token in _TOKEN.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if not depth:
            return token.end()
    return len(text)
