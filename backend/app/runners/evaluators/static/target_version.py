"""Finds the Python version for the linter: what a project supports, and whether new syntax fits it."""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from app.runners.evaluators.static.baseline import INVALID_SYNTAX, Finding
from app.workspaces.environments.project import requires_python
from app.workspaces.environments.reading import DeclarationError

_KNOWN_MINORS = range(7, 15)
_TARGET = re.compile(r"py3(\d{1,2})")
_LAST_MICRO = 99
_OWN_FILES = (".ruff.toml", "ruff.toml")
_NEWER_SYNTAX = re.compile(r"\(syntax was added in Python 3\.(\d+)\)")
_UNSTATED = "it needs Python 3.{}, and the project does not state the versions that it supports"


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


def target_without_rules(base: Path | None, candidate: Path) -> str | None:
    """Return ruff's name for the oldest Python of a project that does not configure ruff.

    Returns:
        A name such as `py313`; None if the project supports the version that runs this program.
    """
    stated = [_supported(tree) or 0 for tree in (base, candidate) if tree is not None]
    oldest = max(stated, default=0)
    return f"py3{oldest}" if oldest > sys.version_info.minor else None


@dataclass(frozen=True, slots=True)
class NewerSyntax:
    """Syntax that the linter reports because it takes an older Python for the oldest supported one.

    Attributes:
        supported: minor version of the oldest Python 3 that the project states; None if it states none.
        used: minor version that the base's files need at least, or that runs this program.
    """

    supported: int | None
    used: int

    def fits(self, finding: Finding) -> bool:
        """Return True if a finding is about syntax that the project may use."""
        needed = _needed(finding)
        known = self.used if self.supported is None else self.supported
        return needed is not None and needed <= known

    def why(self, finding: Finding) -> str:
        """Return why such a finding is no proof; empty if the project states its versions."""
        needed = _needed(finding)
        return "" if needed is None or self.supported is not None else _UNSTATED.format(needed)


def newer_syntax(base: Path, candidate: Path, at_base: Iterable[Finding]) -> NewerSyntax:
    """Return which syntax a project may use.

    Args:
        base: the tree at the base commit.
        candidate: the candidate, which may drop old versions.
        at_base: the linter's findings at the base.
    """
    stated = [each for tree in (base, candidate) for each in (_oldest(tree), _supported(tree)) if each]
    used = [sys.version_info.minor, *(each for each in map(_needed, at_base) if each)]
    return NewerSyntax(max(stated, default=None), max(used))


def _needed(finding: Finding) -> int | None:
    found = _NEWER_SYNTAX.search(finding.message) if finding.rule == INVALID_SYNTAX else None
    return int(found[1]) if found else None


def _supported(tree: Path) -> int | None:
    """Return the minor version of the oldest Python 3 that a project's declarations allow."""
    try:
        return next(_allowed(requires_python(tree)), None)
    except DeclarationError:
        return None


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
    if not required:
        return
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
