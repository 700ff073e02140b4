"""Finds the linter's Python version if a candidate drops older ones."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from packaging.specifiers import InvalidSpecifier, SpecifierSet

_KNOWN_MINORS = range(7, 15)
_TARGET = re.compile(r"py3(\d{1,2})")
_LAST_MICRO = 99
_OWN_FILES = (".ruff.toml", "ruff.toml")


def raised_target(base: Path, candidate: Path) -> str | None:
    """Return ruff's name for a candidate's oldest Python, if the base supports older ones.

    A project that drops Python 3.8 may use syntax that 3.8 cannot parse. A candidate that lowers the version,
    or names one that ruff does not know, is linted for the base's version.

    Returns:
        A name such as `py39`; None if the base's version is used.
    """
    before, after = _oldest(base), _oldest(candidate)
    if before is None or after is None or after <= before:
        return None
    return f"py3{after}"


def _oldest(tree: Path) -> int | None:
    """Return the minor version of Python 3 that the root of a tree states, as ruff finds it."""
    document = _document(tree / "pyproject.toml")
    own = next((each for name in _OWN_FILES if (each := _document(tree / name))), None)
    settings = own if own is not None else _table(_table(document, "tool"), "ruff")
    stated = settings.get("target-version")
    if isinstance(stated, str):
        match = _TARGET.fullmatch(stated)
        return int(match[1]) if match and int(match[1]) in _KNOWN_MINORS else None
    required = _table(document, "project").get("requires-python")
    return next(_allowed(required), None) if isinstance(required, str) else None


def _allowed(required: str) -> Iterator[int]:
    try:
        versions = SpecifierSet(required)
    except InvalidSpecifier:
        return
    for minor in _KNOWN_MINORS:
        if any(versions.contains(f"3.{minor}.{micro}") for micro in (0, _LAST_MICRO)):
            yield minor


def _document(path: Path) -> Mapping[str, Any]:
    with suppress(OSError, ValueError, RecursionError):
        return tomllib.loads(path.read_text("utf-8"))
    return {}


def _table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = document.get(name)
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
