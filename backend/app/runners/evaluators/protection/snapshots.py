"""Tells files of snapshots that only got further entries. Pure."""

import re

_SYRUPY = re.compile(r"^# ---[ \t]*\n?", re.MULTILINE)
_SYRUPY_NAME = re.compile(r"^# name: (.+)$", re.MULTILINE)
_EXPORTS = re.compile(r"^(?=exports\[`)", re.MULTILINE)
# Jest runs such a file, so an entry must be no more than a text.
_EXPORTS_NAME = re.compile(
    r"\Aexports\[`((?:\\.|[^`\\$])*)`\] = `(?:\\.|[^`\\$]|\$(?!\{))*`;\s*\Z", re.DOTALL
)
_HEAD = re.compile(r"\A// (?:Jest|Vitest) Snapshot\b")


def has_only_more(name: str, before: bytes, after: bytes) -> bool:
    """Return True if a file holds the same snapshots as before, and more.

    Args:
        name: the file.
        before: its content at the base.
        after: its content in the candidate.
    """
    old, new = (_entries(name, each) for each in (before, after))
    return bool(old) and new is not None and all(new.get(key) == text for key, text in (old or {}).items())


def _entries(name: str, content: bytes) -> dict[str, str] | None:
    """Return the snapshots by name; None if the file has another format, or a name twice."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if name.endswith(".ambr"):
        head, parts, pattern = "", _SYRUPY.split(text), _SYRUPY_NAME
    elif name.endswith(".snap") and _HEAD.match(text):
        head, *parts = _EXPORTS.split(text)
        pattern = _EXPORTS_NAME
    else:
        return None
    found = {"": head.strip()}
    for part in filter(str.strip, parts):
        named = pattern.findall(part)
        if len(named) != 1 or named[0] in found:
            return None
        found[named[0]] = part.strip()
    return found
