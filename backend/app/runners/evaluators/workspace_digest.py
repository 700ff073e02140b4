"""What a model is shown of a workspace: its changes as text, bounded, with everything left out named."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from app.runners.evaluators.source_tree import project_files

FILE_CHARS = 16_000
TOTAL_CHARS = 80_000
_FILE_BYTES = 400_000
_GENERATED = frozenset(
    {"uv.lock", "poetry.lock", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "Cargo.lock", "go.sum"}
)


@dataclass(frozen=True, slots=True)
class Digest:
    """Changes as text, and the files of which something is missing in it."""

    text: str
    cut: tuple[str, ...]


def digest(workspace: Path, base: Path | None, *, without: Iterable[str] = ()) -> Digest:
    """Give the changes against base as a unified diff, or without a base the contents of the files.

    Args:
        workspace: the judged tree.
        base: the tree with the base commit.
        without: files that are shown elsewhere.
    """
    names = set(project_files(workspace)) | (set(project_files(base)) if base else set[str]())
    parts: list[str] = []
    cut: list[str] = []
    left = TOTAL_CHARS
    for name in sorted(names - set(without)):
        part = _part(name, workspace, base)
        if part is None:
            cut.append(name)
            continue
        kept = part[: min(FILE_CHARS, left)]
        if len(kept) < len(part):
            cut.append(name)
        left -= len(kept)
        parts.append(kept)
    return Digest("\n".join(part for part in parts if part), tuple(cut))


def read_text(path: Path) -> str | None:
    """Give a text file's content; None for what is missing, too large, or not text."""
    try:
        if path.is_symlink() or path.stat().st_size > _FILE_BYTES:
            return None
        content = path.read_bytes()
    except OSError:
        return None
    if b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _part(name: str, workspace: Path, base: Path | None) -> str | None:
    """Give one file's share, `""` when it did not change, None when it cannot be shown."""
    after = _existing(workspace / name)
    before = _existing(base / name) if base else ""
    if after is None or before is None or PurePosixPath(name).name in _GENERATED:
        return "" if base and _same(workspace / name, base / name) else None
    if base is None:
        return f"=== {name}\n{after}"
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"a/{name}", f"b/{name}", lineterm=""
    )
    return "\n".join(lines)


def _existing(path: Path) -> str | None:
    return read_text(path) if path.exists() else ""


def _same(one: Path, other: Path) -> bool:
    try:
        return one.read_bytes() == other.read_bytes()
    except OSError:
        return False
