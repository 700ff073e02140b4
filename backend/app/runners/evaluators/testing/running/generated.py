"""Files that a project's build generates and its code imports."""

from pathlib import Path

from app.workspaces.environments.project import project_of
from app.workspaces.environments.reading import DeclarationError
from app.workspaces.environments.versions import generated_files


def write_generated(base: Path | None, copy: Path) -> None:
    """Write the missing version files of the base's build into a copy in which tests run.

    Args:
        base: the tree that determines the files and the version; None writes nothing.
        copy: a copy of any tree.

    Raises:
        OSError: the copy cannot be written to.
    """
    if base is None:
        return
    try:
        project = project_of(base)
        files = generated_files(base, project.version if project else "")
    except DeclarationError:
        return
    for name, text in files.items():
        path = copy / name
        inside = path.parent.is_dir() and path.parent.resolve().is_relative_to(copy.resolve())
        if inside and not path.exists() and not path.is_symlink():
            path.write_text(text, encoding="utf-8")
