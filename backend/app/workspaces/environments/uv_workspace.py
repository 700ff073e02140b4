"""Finds the members of uv's workspaces; see https://docs.astral.sh/uv/concepts/projects/workspaces/."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from app.workspaces.environments.groups import wanted
from app.workspaces.environments.naming import OF_THE_TEST_RUNNER, normal
from app.workspaces.environments.project import ProjectMetadata, project_of
from app.workspaces.environments.reading import DeclarationError, read_toml, table, texts
from app.workspaces.files.origin import TreeOrigin, origin_of

_MOST_MEMBERS = 200
_COMPILING = frozenset({"maturin", "mesonpy", "scikit_build_core", "setuptools_rust", "sipbuild"})
"""Build backends for code in other languages. A released wheel has what the tree lacks."""


def members(tree: Path, document: Mapping[str, Any]) -> list[Path]:
    """Return the directories of the members that a tree's `pyproject.toml` names, but not the tree itself.

    Args:
        tree: the root of the workspace.
        document: the parsed `pyproject.toml`.
    """
    workspace = table(document, "tool", "uv", "workspace")
    excluded = set(_found(tree, workspace.get("exclude")))
    found = (each for each in _found(tree, workspace.get("members")) if each not in excluded)
    return [
        each
        for each in islice(dict.fromkeys(found), _MOST_MEMBERS)
        if not each.is_symlink() and (each / "pyproject.toml").is_file()
    ]


def member_projects(tree: Path, project: ProjectMetadata | None) -> dict[str, ProjectMetadata]:
    """Return the metadata of a workspace's members by their POSIX path below its root.

    Members are left out if their files cannot be read, if another one has the same name, if a build compiles
    them, or if pytest needs their released code.

    Args:
        tree: the root of the workspace.
        project: the project at the root; None if it is a mere workspace.

    Raises:
        DeclarationError: the root's `pyproject.toml` cannot be read.
    """
    origin = origin_of(tree)
    taken = {*OF_THE_TEST_RUNNER, *([normal(project.name)] if project is not None else [])}
    found: dict[str, ProjectMetadata] = {}
    for each in members(tree, read_toml(tree, "pyproject.toml")):
        with suppress(DeclarationError):
            member = _metadata(each, origin)
            if member is not None and normal(member.name) not in taken:
                taken.add(normal(member.name))
                found[each.relative_to(tree).as_posix()] = member
    return found


def _metadata(place: Path, origin: TreeOrigin) -> ProjectMetadata | None:
    backend = str(table(read_toml(place, "pyproject.toml"), "build-system").get("build-backend", ""))
    if backend.partition(".")[0] in _COMPILING:
        return None
    asked = wanted(place)
    return project_of(place, asked.requirements, asked.extras, origin)


def _found(tree: Path, patterns: object) -> Iterator[Path]:
    """Yield the paths below a tree that patterns match.

    Ignore patterns that lead elsewhere, are none, or mean the tree itself.
    """
    for pattern in texts(patterns):
        if ".." not in pattern.split("/") and PurePosixPath(pattern).parts:
            # `glob` raises these for malformed and absolute patterns, and for directories it cannot read.
            with suppress(ValueError, NotImplementedError, OSError):
                yield from sorted(islice(tree.glob(pattern), _MOST_MEMBERS))
