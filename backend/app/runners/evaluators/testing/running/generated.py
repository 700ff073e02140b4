"""Files that a project's build or installation generates and its code reads."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from app.workspaces.environments.project import ProjectMetadata, entry_points_of, project_of
from app.workspaces.environments.reading import DeclarationError
from app.workspaces.environments.versions import generated_files

_OF_PYTEST = "pytest11"
"""The group of pytest's plug-ins. Those of the base count."""


def write_generated(base: Path, copy: Path) -> None:
    """Write what a build and an installation would make into a copy in which tests run.

    These are missing version files and, if the candidate declares other entry points, the project's metadata.
    A candidate may be the first to have a version file. It gets the usual content, because no gate reads its
    template.

    Args:
        base: the tree that determines the version, and the files with their content.
        copy: a copy of any tree.

    Raises:
        OSError: the copy cannot be written to.
    """
    try:
        project = project_of(base)
        version = project.version if project else ""
        files = generated_files(base, version)
    except DeclarationError:
        return
    if project is not None:
        _write_metadata(project, copy)
    for name, text in {**_further(copy, version), **files}.items():
        path = copy / name
        inside = path.parent.is_dir() and path.parent.resolve().is_relative_to(copy.resolve())
        if inside and not path.exists() and not path.is_symlink():
            path.write_text(text, encoding="utf-8")


def _write_metadata(project: ProjectMetadata, copy: Path) -> None:
    """Write the project's metadata with the copy's entry points, if those differ.

    The root of the copy comes before installed packages on the import path, so this metadata is found first.
    """
    try:
        declared = entry_points_of(copy)
    except DeclarationError:
        return
    declared.pop(_OF_PYTEST, None)
    known = {group: points for group, points in project.entry_points.items() if group != _OF_PYTEST}
    if declared == known:
        return
    plugins = {_OF_PYTEST: found} if (found := project.entry_points.get(_OF_PYTEST)) else {}
    files = replace(project, entry_points={**declared, **plugins}).files()
    place = copy / PurePosixPath(next(iter(files))).parent
    if place.exists() or place.is_symlink():
        return
    place.mkdir()
    for name, text in files.items():
        (copy / name).write_text(text, encoding="utf-8")


def _further(copy: Path, version: str) -> Mapping[str, str]:
    """Return the version files of a candidate's build.

    Files with other names may be part of the test setting.
    """
    try:
        files = generated_files(copy, version, templates=False)
    except DeclarationError:
        return {}
    return {
        name: text
        for name, text in files.items()
        if name.endswith(".py") and "version" in PurePosixPath(name).name
    }
