"""Knows the lock files and manifests that determine what a project's set-up installs."""

import json
import os
import posixpath
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast

from app.workspaces.files.limits import DEFAULT_LIMITS

_LOCKS = frozenset(
    {
        *("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml"),
        *("bun.lock", "bun.lockb", "deno.lock", "go.sum", "go.work.sum", "Cargo.lock", "gradle.lockfile"),
        *("libs.versions.toml", "Gemfile.lock", "composer.lock", "mix.lock", "packages.lock.json"),
        *("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "requirements.txt"),
    }
)
_MANIFESTS = frozenset(
    {
        *("package.json", ".npmrc", ".yarnrc.yml", "go.mod", "go.work", "Cargo.toml", "pom.xml"),
        *("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
    }
)
_INSTALLED = frozenset({"node_modules", "vendor", "target", ".git"})
_OF_THE_BASE = frozenset({".npmrc", ".yarnrc.yml"})


def lock_files_of(tree: Path, further: Sequence[str] = ()) -> dict[str, bytes]:
    """Return the lock files and manifests of a tree with their content, by name.

    Raises:
        WorkspaceError: the tree is larger than the limits allow.
    """
    names = (each for each in _files(tree) if _counts(each, further))
    found = ((name, tree / name) for name in sorted(names))
    return {name: path.read_bytes() for name, path in found if path.is_file() and not path.is_symlink()}


def changed_locks(base: Path, tree: Path, further: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the lock files that a candidate changed, added or removed. Manifests alone do not count.

    Raises:
        WorkspaceError: a tree is larger than the limits allow.
    """
    before, after = lock_files_of(base, further), lock_files_of(tree, further)
    differing = (name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return tuple(sorted(each for each in differing if posixpath.basename(each) not in _MANIFESTS))


def with_locks_of(tree: Path, copy: Path, further: Sequence[str] = ()) -> None:
    """Copy a candidate's lock files and manifests into a copy of the base. Scripts stay the base's.

    Raises:
        WorkspaceError: the tree is larger than the limits allow.
        OSError: they cannot be written.
    """
    for name, content in lock_files_of(tree, further).items():
        place = copy / name
        if not place.parent.is_dir() or place.is_symlink() or posixpath.basename(name) in _OF_THE_BASE:
            continue
        before = place.read_bytes() if place.is_file() else b"{}"
        is_package = posixpath.basename(name) == "package.json"
        place.write_bytes(_with_scripts_of(before, content) if is_package else content)


def _with_scripts_of(before: bytes, after: bytes) -> bytes:
    scripts = _document(before).get("scripts")
    return json.dumps({**_document(after), "scripts": scripts or {}}, indent=2).encode()


def _document(content: bytes) -> dict[str, object]:
    try:
        document: object = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, object]", document) if isinstance(document, dict) else {}


def _files(tree: Path) -> Iterator[str]:
    """Yield the files of a tree, except those that a set-up installs."""
    count = 0
    for directory, directories, files in os.walk(tree):
        directories[:] = [each for each in directories if each not in _INSTALLED]
        count += len(files)
        DEFAULT_LIMITS.check("the tree", count, 0)
        yield from (os.path.relpath(os.path.join(directory, name), tree) for name in files)


def _counts(name: str, further: Sequence[str]) -> bool:
    return posixpath.basename(name) in _LOCKS | _MANIFESTS or any(fnmatchcase(name, glob) for glob in further)
