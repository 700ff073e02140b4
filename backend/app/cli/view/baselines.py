"""Renders the results of the base's tests before any change."""

from typing import TYPE_CHECKING

from app.cli.view.text import one_line

if TYPE_CHECKING:
    # Imported only for types, because the commands' help does not need it.
    from app.schemas.baseline import BaselineSummary

SHOWN = 20
"""Number of tests that are named."""

Line = tuple[str, str]
"""Text and its style."""

_HINT = "Tests that may stay red go into known_failures, below [tests] in phaserunner.toml"


def baseline_lines(summary: "BaselineSummary", indent: str = "") -> list[Line]:
    """Return how many of the base's tests fail, and the first of them with their messages."""
    troubled = summary.trouble or summary.red or summary.flaky or summary.unreadable
    lines = [(f"{indent}baseline  {one_line(summary.note, 500)}", "yellow" if troubled else "dim")]
    named = [
        ("red, needs a network" if each.needs_network else "red", each.id, each.message)
        for each in summary.red_tests
    ]
    named += [("unreadable", each.id, each.message) for each in summary.unreadable_files]
    named += [
        (f"flaky, {each.failed} of {each.runs} runs failed", each.id, each.message)
        for each in summary.flaky_tests
    ]
    for word, name, message in named[:SHOWN]:
        lines.append((f"{indent}  {word}: {one_line(name)}: {one_line(message)}", "dim"))
    left = summary.red + summary.unreadable + summary.flaky - len(named[:SHOWN])
    if left > 0:
        lines.append((f"{indent}  and {left} more", "dim"))
    if summary.red:
        lines.append((f"{indent}  {_HINT}", "dim"))
    return lines
