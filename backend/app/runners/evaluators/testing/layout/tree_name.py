"""Names the directory in which tests run."""

from pathlib import Path

from app.workspaces.environments.project import project_name
from app.workspaces.environments.reading import DeclarationError

_UNNAMED = "tree"
_LONGEST = 40
_TAKEN = frozenset({"import-places"})
"""Names of what stands beside the directory."""


def tree_name(base: Path | None) -> str:
    """Return the name of the base's project, which is how a clone of it is usually called.

    Some tests depend on it: they look for files by the name of the working directory.
    """
    try:
        name = project_name(base) if base is not None else ""
    except DeclarationError:
        name = ""
    return name if 0 < len(name) <= _LONGEST and name not in _TAKEN else _UNNAMED
