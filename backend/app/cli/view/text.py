"""Makes text from agents and tools harmless for a terminal."""

import re
import unicodedata

_ESCAPE_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movements
    r"|\x9b[0-?]*[ -/]*[@-~]"
    # OSC, DCS: titles, links. One that does not end must not hide the lines after it.
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c|(?=\n)|$)"
    r"|\x1b[ -/]*[0-~]"  # two-character sequences
)
_KEPT_CONTROLS = frozenset("\n\t")
_KEPT_FORMATS = frozenset("\u200c\u200d")
"""Joiners: several scripts and emoji are misspelt without them, and they do not move text."""


def harmless(text: str) -> str:
    r"""Remove escape sequences and spell out other characters that could control a terminal.

    Control characters other than tab and line end, bidi and other invisible format characters, and lone
    surrogates become `<U+202E>`; `\r\n` becomes `\n`.
    """
    without_sequences = _ESCAPE_SEQUENCES.sub("", text.replace("\r\n", "\n"))
    if without_sequences.isascii() and without_sequences.replace("\n", "").replace("\t", "").isprintable():
        return without_sequences
    return "".join(_spelt_out(character) for character in without_sequences)


def one_line(text: str, limit: int = 200) -> str:
    """Return harmless text as one line of at most `limit` characters. An ellipsis marks a cut."""
    joined = " ".join(harmless(text).split())
    return joined if len(joined) <= limit else joined[: limit - 1].rstrip() + "…"


def first_lines(text: str, count: int, width: int = 200) -> tuple[str, ...]:
    """Return the first `count` lines with text, each cut to `width`. A last line counts the others."""
    lines = [line.expandtabs(4).rstrip() for line in harmless(text).splitlines() if line.strip()]
    shown = tuple(line if len(line) <= width else line[: width - 1] + "…" for line in lines[:count])
    rest = len(lines) - count
    return shown if rest <= 0 else (*shown, f"… {rest} more line{'s' if rest > 1 else ''}")


def _spelt_out(character: str) -> str:
    if character in _KEPT_CONTROLS or character in _KEPT_FORMATS:
        return character
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return f"<U+{ord(character):04X}>"
    return character
