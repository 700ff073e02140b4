"""Finds the files of a working tree that are the project's own."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from app.runners.evaluators.tooling import ToolTroubleError

PYTHON_SUFFIXES = (".py", ".pyi")
MAX_PYTHON_FILES = 20_000
"""Larger trees are not analysed; the reason is reported instead."""

_MAX_ENTRIES = 500_000
_NEVER_OURS = frozenset({"__pycache__", "node_modules", "site-packages", "__pypackages__"})
_ENVIRONMENT_NAMES = frozenset({"venv", "env", "virtualenv"})


def project_files(root: Path) -> list[str]:
    """Return the files of a tree as sorted POSIX paths relative to `root`.

    Hidden files and directories, installed packages, virtual environments under their usual names, and
    symbolic links are left out.
    """
    return sorted(name for name, aside in _walk(root) if not aside)


def python_files(root: Path) -> list[str]:
    """Return the Python files among the project's files."""
    return [name for name in project_files(root) if name.endswith(PYTHON_SUFFIXES)]


def judged_files(root: Path, base: Path | None) -> list[str]:
    """Return the Python files that static tools must analyse.

    Besides the project's Python files these are links to another kind of file inside the tree, because Python
    follows them. If there is a base, files in directories that `project_files` leaves out are included, too,
    unless the base has the same file: code must not escape analysis in `.work` or `venv`.

    Raises:
        ToolTroubleError: there are more than `MAX_PYTHON_FILES`, or the tree cannot be read.
    """
    found: list[str] = []
    for count, (name, aside) in enumerate(_walk(root, links=True), start=1):
        if count > _MAX_ENTRIES:
            raise ToolTroubleError(
                f"the tree has more than {_MAX_ENTRIES:,} files; that is too many to judge"
            )
        if name.endswith(PYTHON_SUFFIXES) and (
            not aside or (base and not same_file(root / name, base / name))
        ):
            found.append(name)
            if len(found) > MAX_PYTHON_FILES:
                raise ToolTroubleError(
                    f"the tree has more than {MAX_PYTHON_FILES:,} Python files; that is too many to analyse"
                )
    return sorted(found)


def base_files(base: Path, judged: Collection[str]) -> tuple[str, ...]:
    """Return the base's Python files with which a candidate's are compared.

    These are the project's own, and others that the candidate has, too.
    """
    own = set(python_files(base)) | {name for name in judged if (base / name).is_file()}
    return tuple(sorted(own))


def is_plain_name(name: str) -> bool:
    """Return True if this path can be passed to a tool in a UTF-8 text file with one path per line."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return name.splitlines() == [name]


def same_file(one: Path, other: Path) -> bool:
    """Return True if two files can be read and hold the same bytes."""
    try:
        return one.stat().st_size == other.stat().st_size and one.read_bytes() == other.read_bytes()
    except OSError:
        return False


def _walk(root: Path, *, links: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield each regular file, and whether it is in a directory that usually does not belong to the project.

    Links to directories are never followed. With `links`, a link with a Python file's name to another kind of
    file inside the tree counts as a file.
    """
    pending = [("", False)]
    while pending:
        directory, aside = pending.pop()
        try:
            entries = list(os.scandir(root / directory))
        except OSError as error:
            if not links:
                continue
            raise ToolTroubleError(f"{directory or 'the tree'} cannot be read: {error.strerror}") from error
        for entry in entries:
            name = f"{directory}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                pending.append((f"{name}/", aside or not _is_ours(Path(entry.path))))
            elif entry.is_file(follow_symlinks=False) or (links and _is_second_name(root, Path(entry.path))):
                yield name, aside or entry.name.startswith(".")


def _is_ours(directory: Path) -> bool:
    name = directory.name
    if name.startswith(".") or name in _NEVER_OURS:
        return False
    # An added pyvenv.cfg must not hide a directory with any name from the evaluators.
    return not (name in _ENVIRONMENT_NAMES and (directory / "pyvenv.cfg").is_file())


def _is_second_name(root: Path, link: Path) -> bool:
    if link.suffix not in PYTHON_SUFFIXES:
        return False
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):  # it leads nowhere, or in a circle
        return False
    inside = target.is_relative_to(root.resolve())
    return inside and target.is_file() and target.suffix not in PYTHON_SUFFIXES
