"""Finds the other projects of a tree, such as the packages of a repository that holds many."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from app.workspaces.environments.groups import wanted
from app.workspaces.environments.naming import OF_THE_TEST_RUNNER, normal
from app.workspaces.environments.project import ProjectMetadata, project_name, project_of
from app.workspaces.environments.reading import DeclarationError, read_toml, table
from app.workspaces.environments.requirement_files import (
    is_project,
    local_projects,
    local_projects_in,
    requirement_lines,
)
from app.workspaces.environments.roots import declared_roots
from app.workspaces.environments.tox import tox_lines
from app.workspaces.environments.uv_workspace import members
from app.workspaces.files.origin import TreeOrigin, origin_of

_MOST_PROJECTS = 200
_COMPILING = frozenset({"maturin", "mesonpy", "scikit_build_core", "setuptools_rust", "sipbuild"})
"""Build backends for code in other languages. A released wheel has what the tree lacks."""

_TOX_ROOT = re.compile(r"\{(?:toxinidir|tox_root)\}(?:/|\{/\})")

_NOT_OF_THE_PRODUCT = frozenset(
    {"doc", "docs", "example", "examples", "node_modules", "sample", "samples", "template", "templates"}
    | {"test", "tests", "testing", "third_party", "tools", "vendor"}
)
"""Directories whose projects show, test or build something."""


def projects_beside(tree: Path) -> list[Path]:
    """Return the directories of a tree's other projects.

    These are the members of uv's workspace, and what requirement files and tox install from the tree. If
    nothing names any and the root is no project itself, they are the projects one or two levels below it.

    Raises:
        DeclarationError: the root's `pyproject.toml` cannot be read.
    """
    named = [*local_projects(tree), *local_projects_in(tree, _tox_lines(tree))]
    found = [*members(tree, read_toml(tree, "pyproject.toml")), *(tree / each for each in named)]
    if not found and not _declares_project(tree):
        found = list(_below(tree))
    return list(islice(dict.fromkeys(found), _MOST_PROJECTS))


def metadata_of(
    tree: Path, places: Iterable[Path], project: ProjectMetadata | None
) -> dict[str, ProjectMetadata]:
    """Return the metadata of a tree's other projects by their POSIX path below its root.

    Projects are left out if their files cannot be read, if another one has the same name, if a build compiles
    them, or if pytest needs their released code.

    Args:
        tree: the root.
        places: the directories of the other projects.
        project: the project at the root; None if there is none.
    """
    origin = origin_of(tree)
    taken = {*OF_THE_TEST_RUNNER, *([normal(project.name)] if project is not None else [])}
    found: dict[str, ProjectMetadata] = {}
    for each in places:
        with suppress(DeclarationError):
            other = _metadata(each, origin)
            if other is not None and normal(other.name) not in taken:
                taken.add(normal(other.name))
                found[each.relative_to(tree).as_posix()] = other
    return found


def requirements_of(tree: Path, projects: Iterable[str]) -> list[str]:
    """Return what other projects of a tree and their tests need. Those that cannot be read need nothing.

    Args:
        tree: the root.
        projects: their POSIX paths below it.
    """
    found: list[str] = []
    for place in (tree / each for each in projects):
        with suppress(DeclarationError):
            lines, files = declared_roots(place, wanted(place), project_name(place))
            found += [*lines, *requirement_lines(place, files.texts)]
    return list(dict.fromkeys(found))


def _metadata(place: Path, origin: TreeOrigin) -> ProjectMetadata | None:
    backend = str(table(read_toml(place, "pyproject.toml"), "build-system").get("build-backend", ""))
    if backend.partition(".")[0] in _COMPILING:
        return None
    asked = wanted(place)
    return project_of(place, asked.requirements, asked.extras, origin)


def _tox_lines(tree: Path) -> list[str]:
    try:
        return [_TOX_ROOT.sub("./", each) for each in tox_lines(tree)]
    except DeclarationError:  # tox only adds to the project files, so it is ignored
        return []


def _declares_project(tree: Path) -> bool:
    """Return True if the root states a project's name or requirements, or has files that cannot be read."""
    try:
        return bool(project_name(tree) or wanted(tree).requirements)
    except DeclarationError:
        return True


def _below(tree: Path) -> Iterator[Path]:
    """Yield the projects in directories of the root, and in directories such as `packages`."""
    for place in _directories(tree):
        if is_project(place):
            yield place
        else:
            yield from (each for each in _directories(place) if is_project(each))


def _directories(place: Path) -> list[Path]:
    try:
        found = [each for each in place.iterdir() if each.is_dir() and not each.is_symlink()]
    except OSError:
        return []
    return sorted(
        each
        for each in found
        if not each.name.startswith((".", "_")) and each.name.lower() not in _NOT_OF_THE_PRODUCT
    )
