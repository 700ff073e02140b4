"""Renders the questions that a person is asked, with both sides of each."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from app.cli.view.text import one_line

if TYPE_CHECKING:
    # Imported only for types, because the commands' help does not need it.
    from app.schemas.questions import Question

Line = tuple[str, str]
"""Text and its style."""

_SOURCE_LINES = 40
_WHY_CHARS = 500


def question_lines(question: "Question") -> list[Line]:
    """Return a question, what is known about it, and what it compares.

    Two versions of a source have the signs of a diff. Anything else has a heading.
    """
    lines = [(f"? {one_line(question.text, _WHY_CHARS)}", "yellow")]
    if question.why:
        lines.append((f"  {one_line(question.why, _WHY_CHARS)}", "dim"))
    if question.compares_versions:
        return [*lines, *_versions(question.before.splitlines(), question.after.splitlines())]
    return [
        *lines,
        *_side(question.before, question.before_heading),
        *_side(question.after, question.after_heading),
    ]


def _versions(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    """Return what changed as a diff, with the lines that both versions have."""
    lines: list[Line] = []
    for what, start, end, new_start, new_end in SequenceMatcher(None, before, after, False).get_opcodes():
        if what == "equal":
            lines += [(f"    {line}", "dim") for line in before[start:end]]
            continue
        lines += [(f"  - {line}", "red") for line in before[start:end]]
        lines += [(f"  + {line}", "green") for line in after[new_start:new_end]]
    return _shortened(lines, 2 * _SOURCE_LINES)


def _side(text: str, heading: str) -> list[Line]:
    lines = _shortened([(f"    {line}", "") for line in text.splitlines()], _SOURCE_LINES)
    return [(f"  {heading}:", "dim"), *lines] if lines else []


def _shortened(lines: list[Line], most: int) -> list[Line]:
    more = len(lines) - most
    if more <= 0:
        return lines
    return [*lines[:most], (f"    … {more} more line{'s' if more > 1 else ''}", "dim")]
