"""Reads what tox's plain test environment installs."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from app.workspaces.environments.groups import Wanted
from app.workspaces.environments.naming import names_in, normal
from app.workspaces.environments.reading import DeclarationError, texts
from app.workspaces.environments.tox_sections import tox_sections

_TOX_FILE = re.compile(r"-r\s*(?:\{(?:toxinidir|tox_root)\}/)?([\w./-]+)")
_SEPARATOR = "{/}"
"""Tox's word for the separator of paths."""
_PLAIN_TOX = re.compile(r"testenv(?::py[\d{},.]*)?")


def tox_lines(tree: Path) -> list[str]:
    """Return what tox's test environment installs, as written.

    Raises:
        DeclarationError: tox's configuration cannot be read.
    """
    return texts(tox_sections(tree).get("testenv", {}).get("deps", ""))


def tox_requirements(tree: Path) -> Iterator[str]:
    """Yield the plain requirements of tox's test environment, without conditional lines and files."""
    for line in tox_lines(tree):
        if not line.startswith(("-", ".", "#")) and not set(line) & set("{}:"):
            yield line


def tox_additions(tree: Path, known: Collection[str], *, plugins_only: bool) -> list[str]:
    """Return what tox's test environment installs besides the requirements that the project files name.

    Args:
        tree: the project.
        known: normalised names of these requirements.
        plugins_only: whether only plug-ins of pytest are wanted: tests need their fixtures.
    """
    try:
        named = list(tox_requirements(tree))
    except DeclarationError:  # tox only adds to the project files, so it is ignored
        return []
    return [
        each
        for each in named
        for name in names_in([each])
        if name not in known and (name.startswith("pytest-") or not plugins_only)
    ]


def readable_tox_files(tree: Path) -> list[str]:
    """Return the requirement files of tox's test environment, or none if they cannot be read."""
    try:
        return list(tox_files(tree))
    except DeclarationError:  # as above
        return []


def tox_files(tree: Path) -> Iterator[str]:
    """Yield the requirement files of tox's test environment that are in the tree."""
    for line in tox_lines(tree):
        file = _TOX_FILE.fullmatch(line.replace(_SEPARATOR, "/"))
        if file is not None and (tree / file.group(1)).is_file():
            yield file.group(1)


def tox_extras(tree: Path, asked: Wanted) -> list[str]:
    """Return the project's own extras that tox's plain test environments install, whatever their factors."""
    known = {normal(name): name for name in asked.extras}
    try:
        sections = tox_sections(tree)
    except DeclarationError:  # tox only adds to the project files, so it is ignored
        return []
    named = [
        normal(line.rpartition(":")[2].strip())
        for section, options in sections.items()
        if _PLAIN_TOX.fullmatch(section)
        for line in texts(options.get("extras", "").replace(",", "\n"))
        if not line.startswith("!")
    ]
    return [known[name] for name in named if name in known]
