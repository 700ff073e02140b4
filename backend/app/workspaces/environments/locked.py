"""Reads the versions that lock files pin, by name and version alone."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from packaging.requirements import InvalidRequirement, Requirement

from app.workspaces.environments.reading import DeclarationError, read_text, read_toml, table

_ADDRESSES = ("git", "url", "path", "file", "editable")
"""Keys of an entry that names an address instead of a release."""


def locked_versions(tree: Path) -> list[str]:
    """Return the versions pinned in the lock that sets them, without packages locked in several versions.

    Raises:
        DeclarationError: the lock cannot be read.
    """
    lock = version_lock(tree)
    return VERSION_LOCKS[lock](tree) if lock else []


def version_lock(tree: Path) -> str:
    """Return the name of the lock that sets versions, or an empty text. uv.lock is installed as it is."""
    return next((name for name in VERSION_LOCKS if (tree / name).is_file()), "")


def uv_locked_versions(tree: Path) -> list[str]:
    """Return the versions from an index that uv.lock pins, without packages locked in several versions.

    Raises:
        DeclarationError: the lock cannot be read.
    """
    return _pins(_packages(tree, "uv.lock", lambda entry: "registry" in table(entry, "source")))


def is_release(requirement: str) -> bool:
    """Return True if a requirement names a release from an index, not an address."""
    try:
        return Requirement(requirement).url is None
    except InvalidRequirement:
        return False


def _of_poetry(tree: Path) -> list[str]:
    return _pins(_packages(tree, "poetry.lock", lambda entry: not table(entry, "source")))


def _of_pdm(tree: Path) -> list[str]:
    return _pins(_packages(tree, "pdm.lock", lambda entry: not any(each in entry for each in _ADDRESSES)))


def _of_pipenv(tree: Path) -> list[str]:
    try:
        document: object = json.loads(read_text(tree, "Pipfile.lock") or "{}")
    except (ValueError, RecursionError) as error:
        raise DeclarationError(f"Pipfile.lock cannot be read: {error}") from error
    content = table({"it": document}, "it")
    entries = [
        (name, table({"it": entry}, "it"))
        for part in ("default", "develop")
        for name, entry in table(content, part).items()
    ]
    return _pins((name, str(entry.get("version", "")).removeprefix("==")) for name, entry in entries)


VERSION_LOCKS: Mapping[str, Callable[[Path], list[str]]] = {
    "poetry.lock": _of_poetry,
    "pdm.lock": _of_pdm,
    "Pipfile.lock": _of_pipenv,
}
"""Locks that set the versions of what the project files require, the first one first."""


def _packages(
    tree: Path, lock: str, is_from_index: Callable[[Mapping[str, Any]], bool]
) -> Iterator[tuple[str, str]]:
    packages = read_toml(tree, lock).get("package")
    for package in cast("Sequence[object]", packages) if isinstance(packages, list) else ():
        entry = table({"it": package}, "it")
        if is_from_index(entry):
            yield str(entry.get("name")), str(entry.get("version"))


def _pins(packages: Iterable[tuple[str, str]]) -> list[str]:
    versions: dict[str, set[str]] = {}
    for name, version in packages:
        versions.setdefault(name, set()).add(version)
    pins = [f"{name}=={next(iter(each))}" for name, each in sorted(versions.items()) if len(each) == 1]
    # A candidate may write anything into its lock.
    return [each for each in pins if is_release(each)]
