"""Files that a project's build generates and its code imports."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from app.workspaces.environments.project import project_of
from app.workspaces.environments.reading import DeclarationError
from app.workspaces.environments.versions import generated_files


def write_generated(base: Path, copy: Path) -> None:
    """Write the missing version files of the build into a copy in which tests run.

    A candidate may be the first to have such a file. It gets the usual content, because no gate reads its
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
    for name, text in {**_further(copy, version), **files}.items():
        path = copy / name
        inside = path.parent.is_dir() and path.parent.resolve().is_relative_to(copy.resolve())
        if inside and not path.exists() and not path.is_symlink():
            path.write_text(text, encoding="utf-8")


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
