"""Breaks long lines between words, below their beginning, for terminals."""

import re

from rich.cells import cell_len

_HEAD = re.compile(r" *(?:\w+ {2,}|[^\w\s`'\"(] )?")
"""Blanks, and a label with blanks after it or a sign: `  goal    `, `    ✓ ` or `        - `."""


def hanging(text: str, width: int, column: int | None = None) -> str:
    """Return a line as lines of at most `width` cells, all below the beginning of its words.

    A longer word, such as a path, stays whole, so that it can be copied. `column` is where the words begin if
    its signs and labels do not show it.
    """
    if cell_len(text) <= width:
        return text
    found = _HEAD.match(text)
    head = text[:column] if column is not None else found[0] if found else ""
    indent = " " * min(cell_len(head), width // 2)
    first, *words = text[len(head) :].split(" ")
    lines = [head + first]
    for word in words:
        longer = f"{lines[-1]} {word}"
        if cell_len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(indent + word)
    return "\n".join(line.rstrip() for line in lines)
