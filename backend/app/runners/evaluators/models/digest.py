"""Builds a model's view of a workspace: its changes as text, bounded, with all omissions named."""

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from app.agents.models.material import file_name, shorten, visible
from app.runners.evaluators.models.influence import (
    MAX_FOUND,
    Influence,
    find_in_text,
    find_influence,
    is_subject_of,
)
from app.runners.evaluators.source_tree import project_files, same_file

FILE_CHARS = 16_000
TOTAL_CHARS = 80_000
MAX_PARTS = 400
"""Of more changed files, a model would only see scraps."""

_FILE_BYTES = 400_000
_READ_BYTES = 64_000_000
_COMPARED_LINES = 4_000_000
"""Lines before times lines after, up to which a minimal diff is worth its time."""
_CONTEXT_LINES = 3
_NOT_OURS = frozenset(
    {".git", ".hg", ".venv", "node_modules", "site-packages", "__pycache__", ".tox", ".nox"}
    | {".mypy_cache", ".ruff_cache", ".pytest_cache"}
)
_GENERATED = frozenset(
    {"uv.lock", "poetry.lock", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "Cargo.lock", "go.sum"}
)


@dataclass(frozen=True, slots=True)
class Shown:
    """Changes as text, and the files that it does not show completely."""

    text: str
    cut: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Digest:
    """The changes of a workspace.

    Attributes:
        parts: text by file; each at most `FILE_CHARS` long.
        shortened: files with an incomplete part.
        unseen: changed files that are not text, or are too many or too large to be read.
        influence: places that seem to address the reviewer; only in lines that the base does not have.
        subject: True if the project deals with such text already at its base.
        complete: True if every changed file was read; False if there are too many, or too large ones.
    """

    parts: Mapping[str, str]
    shortened: frozenset[str] = frozenset()
    unseen: tuple[str, ...] = ()
    influence: tuple[Influence, ...] = ()
    subject: bool = False
    complete: bool = True

    def shown(self, room: int = TOTAL_CHARS) -> Shown:
        """Return the parts within `room` characters.

        The room is divided so that a small part is shown whole, however large the others are. So large parts
        cannot push a change out of sight.
        """
        shares = _shares({name: len(text) for name, text in self.parts.items()}, room)
        texts: list[str] = []
        cut = {*self.shortened, *self.unseen}
        for name, text in self.parts.items():
            texts.append(shorten(text, shares[name]))
            if shares[name] < len(text):
                cut.add(name)
        return Shown("\n".join(texts), tuple(file_name(name) for name in sorted(cut)))


def digest(workspace: Path, base: Path | None, *, without: Iterable[str] = ()) -> Digest:
    """Return the changes against the base as a unified diff.

    Without a base, return the contents of the files.

    Args:
        workspace: the judged tree.
        base: the tree with the base commit.
        without: files that are shown elsewhere.
    """
    reader = _Reader(workspace, base)
    left, complete = _READ_BYTES, True
    # Small files come first, so that large ones only reduce their own chance of being read.
    for size, name in reader.changed(frozenset(without)):
        left -= size
        if left < 0 or len(reader.parts) == MAX_PARTS:
            complete = False
            break
        reader.take(name)
    found = tuple(reader.influence[:MAX_FOUND])
    return Digest(
        parts={name: reader.parts[name] for name in sorted(reader.parts)},
        shortened=frozenset(reader.shortened),
        unseen=tuple(reader.unseen),
        influence=found,
        subject=bool(found) and _is_subject(base),
        complete=complete,
    )


@dataclass(slots=True)
class _Reader:
    """Collects the parts of a digest."""

    workspace: Path
    base: Path | None
    parts: dict[str, str] = field(default_factory=dict[str, str])
    shortened: set[str] = field(default_factory=set[str])
    unseen: list[str] = field(default_factory=list[str])
    influence: list[Influence] = field(default_factory=list[Influence])

    def changed(self, without: frozenset[str]) -> Iterator[tuple[int, str]]:
        """Yield the size and name of each file that differs from the base, by size."""
        names = _files(self.workspace) | (_files(self.base) if self.base else frozenset[str]())
        for size, name in sorted((_size(self.workspace, self.base, name), name) for name in names - without):
            if self.base is None or not same_file(self.workspace / name, self.base / name):
                yield size, name

    def take(self, name: str) -> None:
        """Read one file."""
        if self.base is None or not (self.base / name).exists():
            words = name.replace("_", " ").replace("-", " ")
            self.influence += find_in_text("the name of a file", words)
        change = _change(name, self.workspace, self.base)
        if change is None:
            self.unseen.append(name)
            return
        text, added = change
        self.parts[name] = shorten(text, FILE_CHARS)
        if len(text) > FILE_CHARS:
            self.shortened.add(name)
        if len(self.influence) < MAX_FOUND:
            self.influence += find_influence(file_name(name), added)


def _files(root: Path) -> frozenset[str]:
    """Return all files but links, including hidden ones.

    Files that a build or an editor reads are part of a change.
    """
    found: set[str] = set()
    for directory, subdirectories, names in os.walk(root):
        subdirectories[:] = [name for name in subdirectories if name not in _NOT_OURS]
        here = Path(directory)
        paths = (here / name for name in names)
        found |= {
            path.relative_to(root).as_posix() for path in paths if path.is_file() and not path.is_symlink()
        }
    return frozenset(found)


def _is_subject(base: Path | None) -> bool:
    left = _READ_BYTES // 4
    for name in project_files(base) if base else []:
        text = read_text(base / name) if base else None
        left -= len(text or "")
        if left < 0:
            return False
        if text and is_subject_of(text):
            return True
    return False


def read_text(path: Path) -> str | None:
    """Return a text file's content, with invalid UTF-8 spelt out.

    Return None if it is missing or not text.
    """
    try:
        if path.is_symlink() or path.stat().st_size > _FILE_BYTES:
            return None
        content = path.read_bytes()
    except OSError:
        return None
    return None if b"\0" in content else content.decode(errors="backslashreplace")


def _shares(sizes: Mapping[str, int], room: int) -> dict[str, int]:
    """Divide `room`: beginning with the smallest, each gets its size or an equal share of what is left."""
    shares: dict[str, int] = {}
    left = max(room, 0)
    for taken, (name, size) in enumerate(sorted(sizes.items(), key=lambda item: item[1])):
        shares[name] = min(size, left // (len(sizes) - taken))
        left -= shares[name]
    return shares


def _change(name: str, workspace: Path, base: Path | None) -> tuple[str, list[tuple[int, str]]] | None:
    """Return a file's change as text, and its added lines with their numbers.

    Return None if it is not text.
    """
    after = _existing(workspace / name)
    before = _existing(base / name) if base else ""
    if after is None or before is None or PurePosixPath(name).name in _GENERATED:
        return None
    known = set(before.split("\n"))
    added = [(n, line) for n, line in enumerate(after.split("\n"), start=1) if line not in known]
    shown_name = file_name(name)
    if base is None:
        return f"=== {shown_name}\n{visible(after)}", added
    lines = _unified(visible(before).split("\n"), visible(after).split("\n"))
    return "\n".join([f"--- a/{shown_name}", f"+++ b/{shown_name}", *lines]), added


def _unified(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    if len(before) * len(after) <= _COMPARED_LINES:
        # The first two lines would be the names.
        yield from list(difflib.unified_diff(before, after, n=_CONTEXT_LINES, lineterm=""))[2:]
        return
    # A minimal diff of large files can take minutes, so everything between the equal ends is shown as
    # changed.
    head = _equal(before, after)
    tail = _equal(before[head:][::-1], after[head:][::-1])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    yield f"@@ -{head + 1},{len(old)} +{head + 1},{len(new)} @@"
    yield from (f"-{line}" for line in old)
    yield from (f"+{line}" for line in new)


def _equal(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the equal lines at the beginning."""
    pairs = zip(one, other, strict=False)
    return next((count for count, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _existing(path: Path) -> str | None:
    return read_text(path) if path.exists() else ""


def _size(workspace: Path, base: Path | None, name: str) -> int:
    total = 0
    for path in (workspace / name, base / name if base else None):
        try:
            total += path.stat().st_size if path else 0
        except OSError:
            continue
    return total
