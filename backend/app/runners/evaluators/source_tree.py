"""Which files of a working tree are the project's own."""

import os
from collections.abc import Iterator
from pathlib import Path

PYTHON_SUFFIXES = (".py", ".pyi")

_NEVER_OURS = frozenset({"__pycache__", "node_modules", "site-packages", "__pypackages__"})
_ENVIRONMENT_NAMES = frozenset({"venv", "env", "virtualenv"})


def project_files(root: Path) -> list[str]:
    """Give the files of a tree as sorted POSIX paths relative to `root`.

    Left out are hidden files and directories, installed packages, virtual environments under their usual
    names, and symbolic links.
    """
    return sorted(_walk(root))


def python_files(root: Path) -> list[str]:
    """Give the Python files among the project's files."""
    return [name for name in project_files(root) if name.endswith(PYTHON_SUFFIXES)]


def is_plain_name(name: str) -> bool:
    """Tell whether a tool can be given this path in a UTF-8 text file with one path a line."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return name.splitlines() == [name]


def _walk(root: Path) -> Iterator[str]:
    for directory, subdirectories, names in os.walk(root):
        here = Path(directory)
        subdirectories[:] = [name for name in subdirectories if _is_ours(here / name)]
        for name in names:
            path = here / name
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield path.relative_to(root).as_posix()


def _is_ours(directory: Path) -> bool:
    name = directory.name
    if name.startswith(".") or name in _NEVER_OURS or directory.is_symlink():
        return False
    # A planted pyvenv.cfg must not hide a directory of any name from the evaluators.
    return not (name in _ENVIRONMENT_NAMES and (directory / "pyvenv.cfg").is_file())
