"""Renders the questions that a person is asked, with both sides of each."""

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
    return [
        *lines,
        *_side(question, question.before, question.before_heading, ("-", "red")),
        *_side(question, question.after, question.after_heading, ("+", "green")),
    ]


def _side(question: "Question", text: str, heading: str, versioned: tuple[str, str]) -> list[Line]:
    shown = text.splitlines()
    more = len(shown) - _SOURCE_LINES
    sign, style = versioned if question.compares_versions else (" ", "")
    lines = [(f"  {sign} {line}", style) for line in shown[:_SOURCE_LINES]]
    if more > 0:
        lines.append((f"  {sign} … {more} more line{'s' if more > 1 else ''}", "dim"))
    if lines and not question.compares_versions:
        lines.insert(0, (f"  {heading}:", "dim"))
    return lines
