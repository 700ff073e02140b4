"""Reads the versions that lock files pin, by name and version alone."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from packaging.requirements import InvalidRequirement, Requirement

from app.workspaces.environments.reading import read_toml, table


def locked_versions(tree: Path) -> list[str]:
    """Return the versions pinned in poetry.lock as constraints, without packages locked in several versions.

    Raises:
        DeclarationError: the lock cannot be read.
    """
    return _pins(tree, "poetry.lock", lambda source: not source)


def uv_locked_versions(tree: Path) -> list[str]:
    """Return the versions from an index that uv.lock pins, without packages locked in several versions.

    Raises:
        DeclarationError: the lock cannot be read.
    """
    return _pins(tree, "uv.lock", lambda source: "registry" in source)


def is_release(requirement: str) -> bool:
    """Return True if a requirement names a release from an index, not an address."""
    try:
        return Requirement(requirement).url is None
    except InvalidRequirement:
        return False


def _pins(tree: Path, lock: str, is_from_index: Callable[[Mapping[str, Any]], bool]) -> list[str]:
    packages = read_toml(tree, lock).get("package")
    versions: dict[str, set[str]] = {}
    for package in cast("Sequence[object]", packages) if isinstance(packages, list) else ():
        entry = table({"it": package}, "it")
        if is_from_index(table(entry, "source")):
            versions.setdefault(str(entry.get("name")), set()).add(str(entry.get("version")))
    pins = [f"{name}=={next(iter(each))}" for name, each in sorted(versions.items()) if len(each) == 1]
    # A candidate may write anything into its lock.
    return [each for each in pins if is_release(each)]
