"""Parses comments that silence a static tool: what they name, and to which lines they apply. Pure."""

import re
from dataclasses import dataclass
from enum import Enum

from app.runners.evaluators.static.ruff_rules import names_fault

BARE = "bare"
"""The kind of a comment that hides every type error of its line."""

NAMED = "named"
"""A kind of every comment that hides rules of the linter by their names."""

# Codes that state an intention and hide no fault: an import for its side effect or for re-export (fixtures,
# registration), and one that must follow other statements. Honest code often has both. Such an import may
# also redefine a name (F811); by itself, that code hides a fault.
_STATED = re.compile(
    r"#\s*noqa\s*:\s*(?=[^#]*\b(?:E402|F401)\b)(?:E402|F401|F811)(?:[,\s]+(?:E402|F401|F811))*"
    r"(?=\s*(?:$|#|-|[^\w,\s]))"
)
_LINT = re.compile(
    r"#\s*(?:(?:ruff|flake8)\s*:\s*(?:noqa|ignore|disable|file-ignore)|noqa\b|isort\s*:)", re.IGNORECASE
)
_TYPES = re.compile(
    r"#\s*(?:type\s*:\s*ignore\b|(?:mypy|pyright|basedpyright|ty|pyrefly)\s*:)", re.IGNORECASE
)
# Names exactly the errors that it hides. Such a comment counts if the base itself has some.
# Checkers allow blanks before the bracket.
_EXACT_TYPES = re.compile(
    r"#\s*(type|pyright|basedpyright|ty)\s*:\s*ignore\s*"
    r"\[\s*[A-Za-z][\w-]*(?:\s*,\s*[A-Za-z][\w-]*)*\s*\](?=\s*(?:#|$))"
)
_EXACT_LINT = re.compile(
    r"#\s*(?:(?P<whole>ruff\s*:\s*)?noqa\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)(?=\s*(?:$|#|-))"
    r"|ruff\s*:\s*ignore\[\s*(?P<names>[A-Za-z][\w-]*(?:\s*,\s*[A-Za-z][\w-]*)*)\s*\])"
)
_BARE_TYPES = re.compile(r"#\s*type\s*:\s*ignore\s*(?=#|$)")


class Tool(Enum):
    """The tool that a comment silences."""

    LINTER = "linter"
    TYPE_CHECKER = "type checker"


@dataclass(frozen=True, slots=True)
class SilencingComment:
    """A comment, or the part of one, that silences a tool.

    Attributes:
        start: where it begins in the comment, from 0.
        text: from there to the end.
        kinds: see `Silencer`; empty if it does not name exactly what it hides.
        for_file: True if it applies to a whole file and names rules.
    """

    start: int
    text: str
    kinds: tuple[str, ...]
    for_file: bool


def silencing_comment(comment: str, tool: Tool) -> SilencingComment | None:
    """Parse a comment. Return None if it silences nothing, or only states an intention."""
    match = (_LINT if tool is Tool.LINTER else _TYPES).search(comment)
    if match is None or (tool is Tool.LINTER and _STATED.match(comment, match.start())):
        return None
    text = comment[match.start() :]
    if tool is Tool.TYPE_CHECKER:
        return SilencingComment(match.start(), text, _types(text), for_file=False)
    exact = _EXACT_LINT.match(text)
    for_file = exact is not None and exact["whole"] is not None
    return SilencingComment(match.start(), text, _rules(exact), for_file)


def _types(text: str) -> tuple[str, ...]:
    exact = _EXACT_TYPES.match(text)
    if exact:
        return (exact.group(1),)
    return (BARE,) if _BARE_TYPES.match(text) else ()


def _rules(exact: re.Match[str] | None) -> tuple[str, ...]:
    """Return the codes or names of the rules that a comment hides; none if one of them is for a fault."""
    codes = tuple(re.split(r"[,\s]+", exact["codes"] or exact["names"])) if exact else ()
    return () if not codes or any(map(names_fault, codes)) else (*codes, NAMED)
