"""Presents text from others to a model: bounded, between markers, and with nothing hidden in it."""

import re
import secrets
from collections.abc import Sequence

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that a reader does not see: control and format characters, selectors, blank letters."""


def new_fence() -> str:
    """Return a code that nothing under review can know."""
    return secrets.token_hex(12)


def visible(text: str) -> str:
    r"""Spell out every character that hides or moves text (`<U+202E>`). `\r\n` becomes `\n`."""
    return _HIDDEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text.replace("\r\n", "\n"))


def file_name(name: str) -> str:
    """Return a path as one visible line."""
    return visible(name.replace("\n", "\\n").replace("\t", "\\t"))


def shorten(text: str, limit: int) -> str:
    """Return at most about `limit` characters: the beginning, the number left out, and the end."""
    if len(text) <= limit:
        return text
    tail = limit // 3
    head = limit - tail
    left_out = f"\n[{len(text) - limit} characters are left out here]\n"
    return text[:head] + left_out + (text[-tail:] if tail else "")


def material(sections: Sequence[tuple[str, str]], fence: str) -> str:
    """Return sections (title, text) between markers that contain `fence`. Empty sections are left out.

    Each line of a text begins with `| `, so no line can be mistaken for a marker.
    """
    return "\n\n".join(
        f"<<<{fence} {title}>>>\n{_quoted(text)}\n<<<{fence} end of {title}>>>"
        for title, text in sections
        if text.strip()
    )


def _quoted(text: str) -> str:
    return "\n".join(f"| {line}" for line in visible(text).rstrip("\n").split("\n"))
