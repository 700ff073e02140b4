"""Tells what became of merged work: how much of it people edited, and whether it was reverted. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.forges.port import Commit, MergedPull

REVERT_WINDOW = timedelta(days=30)
"""How long after a merge reverts count; work that is reverted later was good enough for that long."""

REVERT_WORD = "revert"
"""A word in every message of a revert, in any case."""

Lines = Counter[tuple[bytes, bytes, bytes]]
"""Changed lines and how often each occurs: path, `+` or `-`, and text."""

_REVERTED_COMMIT = re.compile(r"\breverts? (?:commit )?\(?([0-9a-f]{7,64})\b", re.IGNORECASE)
_REVERTED_PULL = re.compile(r"\breverts (?:merge request )?([\w./-]*)[#!](\d+)\b", re.IGNORECASE)
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Edits:
    """How much of a delivered change was different when it was merged.

    Attributes:
        lines: the number of changed lines of the larger of the two changes.
        edited: how many of these lines the other change lacks.
    """

    lines: int
    edited: int

    @property
    def share(self) -> float:
        """Return the share of edited lines; 0 for a change without lines."""
        return self.edited / self.lines if self.lines else 0.0


@dataclass(frozen=True, slots=True)
class Revert:
    """The commit that reverted a merged pull request."""

    commit: str
    at: datetime


def edits_between(delivered: Lines, merged: Lines) -> Edits:
    """Compare the delivered and the merged change line by line, wherever the lines are."""
    lines = max(delivered.total(), merged.total())
    return Edits(lines, lines - (delivered & merged).total())


def changed_lines(patch: bytes) -> Lines:
    """Read the changed lines of a patch that git made without context; a binary file counts as one line."""
    found: Lines = Counter()
    path, blob = b"", b""
    lines = iter(patch.split(b"\n"))
    for line in lines:
        if line.startswith((b"--- ", b"+++ ")):
            # The second header has the new name, except for a deleted file.
            path = path if line == b"+++ /dev/null" else line[4:].partition(b"/")[2]
        elif line.startswith(b"index "):
            blob = line.partition(b"..")[2][:40]
        elif line.startswith(b"Binary files "):
            found[line, b"+", blob] += 1
        elif hunk := _HUNK.match(line):
            found.update((path, sign, text) for sign, text in _hunk(lines, hunk))
    return found


def find_revert(merged: MergedPull, repository: str, later: Sequence[Commit]) -> Revert | None:
    """Find the commit that reverted a pull request within 30 days, unless that commit was reverted itself.

    Args:
        merged: the pull request.
        repository: the repository's name.
        later: later commits of the target, in any order.
    """
    by_age = sorted((each for each in later if each.at - merged.at <= REVERT_WINDOW), key=lambda c: c.at)
    newest: Revert | None = None
    for commit in by_age:
        if commit.id == merged.commit:
            continue
        if newest is None and _takes_back(commit.message, merged, repository):
            newest = Revert(commit.id, commit.at)
        elif newest is not None and _names(commit.message, (newest.commit,)):
            newest = None
    return newest


def _takes_back(message: str, merged: MergedPull, repository: str) -> bool:
    if _names(message, (merged.commit, merged.head)):
        return True
    return any(
        int(found[2]) == merged.number and found[1].lower() in ("", repository.lower())
        for found in _REVERTED_PULL.finditer(message)
    )


def _names(message: str, commits: Sequence[str]) -> bool:
    named = [found[1].lower() for found in _REVERTED_COMMIT.finditer(message)]
    return any(commit.startswith(name) for name in named for commit in commits)


def _hunk(lines: Iterator[bytes], hunk: re.Match[bytes]) -> Iterator[tuple[bytes, bytes]]:
    removed, added = (int(each or b"1") for each in hunk.groups())
    for line in lines:
        # Lines are counted, because a removed line may itself start with `--`.
        if line.startswith(b"\\"):
            continue
        yield line[:1], line[1:]
        removed -= line.startswith(b"-")
        added -= line.startswith(b"+")
        if removed <= 0 and added <= 0:
            return
