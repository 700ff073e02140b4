"""Finds the version of ruff that a project uses, in its files."""

import re
from collections.abc import Iterator
from pathlib import Path

from packaging.version import Version

_NUMBER = re.compile(r"\bv?(\d+\.\d+\.\d+)\b")
_HOOK = re.compile(r"/ruff-pre-commit\b[^\n]*\n(?:[ \t]*#[^\n]*\n)*[ \t]*rev:([^\n]*)")
_LOCKED = re.compile(r'^name = "ruff"\r?\nversion = "([^"\n]+)"', re.MULTILINE)
_EXACT = re.compile(r"(?<![\w-])ruff\s*==\s*([\d.]+)")
_PLACES = (
    (_HOOK, (".pre-commit-config.yaml", ".pre-commit-config.yml")),
    (_LOCKED, ("uv.lock", "poetry.lock", "pdm.lock")),
    (_EXACT, ("pyproject.toml", "setup.cfg", "tox.ini", "tox.toml", "noxfile.py")),
)
_MAX_CHARS = 5_000_000


def pinned_ruff(base: Path) -> Version | None:
    """Return the base's ruff version: from its pre-commit hook, its lock file, or an exact requirement.

    A hook pinned by commit has the version in its comment (`# frozen: v0.15.9`).

    Returns:
        The version; None if no file states one.
    """
    stated = (found for found in _stated(base) if found is not None)
    return next(stated, None)


def _stated(base: Path) -> Iterator[Version | None]:
    for pattern, names in _PLACES:
        for name in names:
            yield _found(pattern, base / name)
    for path in sorted((*base.glob("*requirements*.txt"), *base.glob("requirements/*.txt"))):
        yield _found(_EXACT, path)


def _found(pattern: re.Pattern[str], path: Path) -> Version | None:
    try:
        with path.open(encoding="utf-8") as file:
            match = pattern.search(file.read(_MAX_CHARS))
    except (OSError, UnicodeDecodeError):
        return None
    number = _NUMBER.search(match[1]) if match else None
    return Version(number[1]) if number else None
