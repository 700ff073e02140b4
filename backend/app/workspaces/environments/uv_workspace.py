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
from app.workspaces.files.origin import origin_of

_MOST_MEMBERS = 200


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


def member_projects(tree: Path, project: ProjectMetadata | None) -> tuple[ProjectMetadata, ...]:
    """Return the metadata of a workspace's members, which uv installs beside the project.

    Members are left out if their files cannot be read, if another one has the same name, or if pytest needs
    their released code.

    Args:
        tree: the root of the workspace.
        project: the project at the root; None if it is a mere workspace.

    Raises:
        DeclarationError: the root's `pyproject.toml` cannot be read.
    """
    origin = origin_of(tree)
    found: dict[str, ProjectMetadata] = {}
    for each in members(tree, read_toml(tree, "pyproject.toml")):
        with suppress(DeclarationError):
            asked = wanted(each)
            member = project_of(each, asked.requirements, asked.extras, origin)
            if member is not None:
                found.setdefault(normal(member.name), member)
    taken = {*OF_THE_TEST_RUNNER, *([normal(project.name)] if project is not None else [])}
    return tuple(member for name, member in found.items() if name not in taken)


def _found(tree: Path, patterns: object) -> Iterator[Path]:
    """Yield the paths below a tree that patterns match.

    Ignore patterns that lead elsewhere, are none, or mean the tree itself.
    """
    for pattern in texts(patterns):
        if ".." not in pattern.split("/") and PurePosixPath(pattern).parts:
            # `glob` raises these for malformed and absolute patterns, and for directories it cannot read.
            with suppress(ValueError, NotImplementedError, OSError):
                yield from sorted(islice(tree.glob(pattern), _MOST_MEMBERS))
