"""Keeps a candidate from excluding new code from a measurement by settings or comments."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from app.runners.evaluators.tree_files import small_file

_PRAGMA = re.compile(rb"#\s*(?:pragma|PRAGMA):?\s*(?:no\s*cover|no\s*branch).*$", re.IGNORECASE)
_PRACTICE = 2
"""With this many such comments in the base, they are a practice there, and new ones count."""

_SHARED = ("pyproject.toml", "setup.cfg", "tox.ini")
_SECTION = re.compile(
    r"^\[+[ \t]*(?:tool\.)?(?:coverage|bandit)\b[^\]\n]*\]+[^\n]*\n(?:(?!\[).*(?:\n|\Z))*", re.MULTILINE
)


def measuring_texts(
    base: Path, tree: Path, kept: Collection[str], present: Collection[str]
) -> dict[str, bytes]:
    """Return the candidate's files that exclude more than the base's, rewritten so that they do not.

    Args:
        base: the tree at the base commit.
        tree: the candidate's tree.
        kept: files that both trees have.
        present: files of the candidate.
    """
    found = dict(_sections(base, tree, present))
    sources = [name for name in present if name.endswith(".py")]
    before = {name: small_file(base / name) for name in sources if name in kept}
    if sum(len(_PRAGMA.findall(line)) for text in before.values() for line in text.splitlines()) < _PRACTICE:
        for name in sources:
            text = small_file(tree / name)
            without = _without_new(text, before.get(name, b""))
            if without != text:
                found[name] = without
    return found


def _sections(base: Path, tree: Path, present: Collection[str]) -> Iterator[tuple[str, bytes]]:
    for name in _SHARED:
        if name not in present:
            continue
        before, after = (small_file(root / name).decode("utf-8", "replace") for root in (base, tree))
        wanted, given = _SECTION.findall(before), _SECTION.findall(after)
        if [each.strip() for each in wanted] != [each.strip() for each in given]:
            rest = _SECTION.sub("", after).rstrip("\n")
            yield name, "\n".join([rest, "", *(each.strip("\n") for each in wanted), ""]).encode()


def _without_new(text: bytes, before: bytes) -> bytes:
    """Remove the comments from lines that the base does not have. The number of lines stays the same."""
    if not _PRAGMA.search(text.replace(b"\n", b" ")) and b"pragma" not in text.lower():
        return text
    known = Counter(line.strip() for line in before.splitlines())
    lines = text.split(b"\n")
    for index, line in enumerate(lines):
        if not _PRAGMA.search(line):
            continue
        if known[line.strip()] > 0:
            known[line.strip()] -= 1
        else:
            lines[index] = _PRAGMA.sub(b"#", line)
    return b"\n".join(lines)
