"""Reads the differences between commits, file by file, without running any program of the workspace."""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from app.core.errors import InvalidInputError
from app.schemas.workspaces import Diff, FileDiff, FileStatus
from app.workspaces.files.paths import display_path
from app.workspaces.history.git import Git, GitError, GitTarget, reason
from app.workspaces.together import together

_PLAIN = ["-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color"]
_STATUS: dict[bytes, FileStatus] = {
    b"A": "added",
    b"D": "deleted",
    b"M": "modified",
    b"R": "renamed",
    b"C": "copied",
    b"T": "type_changed",
}
_FILE_START = re.compile(rb"^diff --git ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DiffLimits:
    """Limits on the patches that are shown.

    Attributes:
        file_bytes: limit for one file.
        total_bytes: limit for all files together.
        context: unchanged lines around each change.
    """

    file_bytes: int = 200_000
    total_bytes: int = 1_000_000
    context: int = 3


DEFAULT_DIFF_LIMITS = DiffLimits()
WHOLE_FILE_LIMITS = DiffLimits(file_bytes=32_000_000, total_bytes=32_000_000)
"""The limits for files that a caller names."""


@dataclass(frozen=True, slots=True)
class _Change:
    status: bytes
    old_path: bytes
    path: bytes


async def read_diff(
    git: Git, target: GitTarget, base: str, head: str, paths: Sequence[str], limits: DiffLimits
) -> Diff:
    """Compare two commits. Every changed file is listed even if the patches exceed the limits."""
    summary = ["diff-tree", *_PLAIN, "--raw", "--numstat", "-z", base, head, "--", *paths]
    # Patches are read beyond the limit, so that one large file does not hide those after it.
    (patch, cut), listing = await together(
        read_patch(git, target, base, head, paths, 8 * limits.total_bytes, limits.context),
        git.run(summary, target),
    )
    changes, counts = _read_summary(listing)
    starts = [match.start() for match in _FILE_START.finditer(patch)]
    chunks = [patch[start:end] for start, end in pairwise([*starts, len(patch)])]
    files = _fit(_with_patches(changes, iter(chunks)), counts, limits)
    return Diff(files=files, truncated=cut or any(each.truncated for each in files))


async def read_changes(git: Git, target: GitTarget, base: str, head: str) -> tuple[FileDiff, ...]:
    """Return the files that differ between two commits, with their line counts but without patches."""
    listing = await git.run(["diff-tree", *_PLAIN, "--raw", "--numstat", "-z", base, head, "--"], target)
    changes, counts = _read_summary(listing)
    return tuple(_described(*pair) for pair in zip(changes, counts, strict=True))


async def read_named(
    git: Git, target: GitTarget, base: str, head: str, names: Collection[str], limits: DiffLimits
) -> Diff:
    """Compare some files of two commits, each named as `read_diff` shows it after the change.

    Raises:
        InvalidInputError: one of the files did not change.
    """
    listing = await git.run(["diff-tree", *_PLAIN, "--raw", "--numstat", "-z", base, head, "--"], target)
    changed = {display_path(each.path): each for each in _read_summary(listing)[0]}
    for name in names:
        if name not in changed:
            raise InvalidInputError(f"{name!r} did not change", field="path")
    # Git only recognises a rename if it looks at both paths.
    paths = [os.fsdecode(path) for name in names for path in (changed[name].old_path, changed[name].path)]
    diff = await read_diff(git, target, base, head, list(dict.fromkeys(paths)), limits)
    files = tuple(each for each in diff.files if each.path in names)
    return Diff(files=files, truncated=any(each.truncated for each in files))


async def read_patch(
    git: Git, target: GitTarget, base: str, head: str, paths: Sequence[str], limit: int, context: int = 3
) -> tuple[bytes, bool]:
    """Return whole lines of the unified diff, at most `limit` bytes, and whether there is more."""
    command = ["diff-tree", *_PLAIN, "-p", f"-U{context}", base, head, "--", *paths]
    outcome = await git.attempt(command, target, output_limit=limit)
    if outcome.returncode != 0 or outcome.timed_out:
        raise GitError(f"git diff-tree failed: {reason(outcome)}")
    if not outcome.truncated:
        return outcome.stdout, False
    return outcome.stdout[: outcome.stdout.rfind(b"\n") + 1], True


def _read_summary(listing: bytes) -> tuple[list[_Change], list[tuple[bytes, bytes]]]:
    """Parse `--raw --numstat -z`: all changes, then each one's added and deleted lines (`-` is binary)."""
    changes: list[_Change] = []
    counts: list[tuple[bytes, bytes]] = []
    fields = iter(listing.split(b"\0")[:-1])
    for field in fields:
        if field.startswith(b":"):
            status = field.rsplit(b" ", 1)[1][:1]
            old = next(fields)
            changes.append(_Change(status, old, next(fields) if status in (b"R", b"C") else old))
        else:
            added, deleted, path = field.split(b"\t", 2)
            if not path:  # a rename is followed by both paths
                next(fields)
                next(fields)
            counts.append((added, deleted))
    return changes, counts


def _with_patches(
    changes: Sequence[_Change], chunks: Iterator[bytes]
) -> Iterator[tuple[_Change, bytes | None]]:
    """Pair changes with their patches, which come in the same order. The patch is None after a cut."""
    for change in changes:
        chunk = next(chunks, None)
        if change.status == b"T" and chunk is not None:  # a deletion and an addition
            chunk += next(chunks, b"")
        yield change, chunk


def _fit(
    pairs: Iterator[tuple[_Change, bytes | None]], counts: Sequence[tuple[bytes, bytes]], limits: DiffLimits
) -> tuple[FileDiff, ...]:
    left = limits.total_bytes
    files: list[FileDiff] = []
    for (change, chunk), count in zip(pairs, counts, strict=True):
        room = min(limits.file_bytes, left)
        patch = chunk or b""
        if len(patch) > room:
            patch = patch[: patch.rfind(b"\n", 0, room) + 1]
        left -= len(patch)
        text, cut = patch.decode("utf-8", "replace"), chunk is None or len(patch) < len(chunk)
        files.append(_described(change, count).model_copy(update={"patch": text, "truncated": cut}))
    return tuple(files)


def _described(change: _Change, count: tuple[bytes, bytes]) -> FileDiff:
    added, deleted = count
    binary = added == b"-"
    return FileDiff(
        path=display_path(change.path),
        old_path=display_path(change.old_path) if change.old_path != change.path else None,
        status=_STATUS[change.status],
        additions=0 if binary else int(added),
        deletions=0 if binary else int(deleted),
        binary=binary,
    )
