"""Checks NOTES.md by the style of the house; exit status 1 when it does not keep it."""

import re
import sys
from pathlib import Path

MAX_WORDS = 25
EMPTY = ("very", "simply", "basically", "world-class")


def complaints(text: str) -> list[str]:
    found = []
    if not re.match(r"# \d+\.\d+\n", text):
        found.append("the first line is not the version as a heading")
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        words = sentence.split()
        if len(words) > MAX_WORDS:
            found.append(f"a sentence has {len(words)} words, at most {MAX_WORDS} are allowed: {' '.join(words[:6])} ...")
    found += [f"{word!r} says nothing" for word in EMPTY if re.search(rf"\b{word}\b", text, re.I)]
    return found


if __name__ == "__main__":
    notes = Path("NOTES.md")
    said = complaints(notes.read_text(encoding="utf-8")) if notes.exists() else ["there is no NOTES.md"]
    print("\n".join(said) or "NOTES.md keeps the style of the house")
    sys.exit(1 if said else 0)
