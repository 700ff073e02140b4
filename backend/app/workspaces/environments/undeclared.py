"""Finds what the sources of a tree need and no declaration says."""

import re
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from app.workspaces.environments.django import PLUGIN, settings_of
from app.workspaces.environments.naming import names_in

WITH_PKG_RESOURCES = "setuptools<81"
"""Environments used to have setuptools, so many projects never declared it; 81 dropped `pkg_resources`."""

_LAST_WITH_PKG_RESOURCES = "80.9.0"
_ASKS_FOR_METADATA = re.compile(rb"importlib[._]metadata|pkg_resources")
IMPORTS_PKG_RESOURCES = re.compile(
    rb"^[ \t]*(?:import|from)[ \t]+pkg_resources\b|__import__\([\"']pkg_resources[\"']\)", re.MULTILINE
)
_MAX_SOURCES = 2000


def undeclared(tree: Path, declared: Iterable[str]) -> list[str]:
    """Return requirements that a tree's sources show, besides those that it declares."""
    declared = list(declared)
    found: list[str] = []
    own = [each for each in declared if "setuptools" in names_in([each])]
    if all(map(_allows_pkg_resources, own)) and _some_source_has(tree, IMPORTS_PKG_RESOURCES):
        found.append(WITH_PKG_RESOURCES)
    # A project that declares pytest knows how to set Django up for it.
    if "django" in (names := names_in(declared)) and "pytest" not in names and settings_of(tree):
        found.append(PLUGIN)
    return found


def asks_for_metadata(tree: Path) -> bool:
    """Return True if the tree's code looks up installed metadata, so it must find the project there."""
    return _some_source_has(tree, _ASKS_FOR_METADATA)


def _allows_pkg_resources(requirement: str) -> bool:
    try:
        found = Requirement(requirement)
    except InvalidRequirement:
        return False
    return found.url is None and found.specifier.contains(_LAST_WITH_PKG_RESOURCES)


def _some_source_has(tree: Path, pattern: re.Pattern[bytes]) -> bool:
    for count, path in enumerate(tree.rglob("*.py")):
        if count > _MAX_SOURCES:
            break
        try:
            if not path.is_symlink() and pattern.search(path.read_bytes()):
                return True
        except OSError:
            continue
    return False
