"""Finds directories below a project's root from which its modules are imported."""

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.workspaces.environments.beside import projects_beside
from app.workspaces.environments.reading import DeclarationError, table, texts

_SRC = "src"
_IN_SETUP_PY = re.compile(r"package_dir['\"]?\s*[=:]\s*\{\s*(?:''|\"\")\s*:\s*['\"]([\w./-]+)['\"]")
_IN_TOX = re.compile(r"^[ \t]*(?:set_?env[ \t]*=[ \t]*)?PYTHONPATH[ \t]*=[ \t]*(\S.*)$", re.MULTILINE)
_TOX_ROOT = re.compile(r"^\{(?:toxinidir|tox_root)\}/?")
_IN_SETUP_CFG = re.compile(r"^package_dir\s*=\s*=\s*([\w./-]+)\s*$", re.MULTILINE)


def source_places(tree: Path) -> tuple[str, ...]:
    """Return the directories with modules besides the root, as POSIX paths below the tree.

    These are `src` by convention, and the directory that `package_dir` gives the root package; see
    https://setuptools.pypa.io/en/latest/userguide/package_discovery.html. Other projects in the tree have
    theirs. tox may name more in `PYTHONPATH`. Only existing directories are returned.
    """
    document = _document(tree / "pyproject.toml")
    named = [_SRC, *_IN_SETUP_PY.findall(_text(tree / "setup.py"))]
    named += [
        *_IN_SETUP_CFG.findall(_text(tree / "setup.cfg")),
        *texts(table(document, "tool", "setuptools", "package-dir").get("")),
        *_of_other_projects(tree),
        *_of_tox(_text(tree / "tox.ini")),
    ]
    inside = (each.removeprefix("./").rstrip("/") for each in named)
    places = (each for each in inside if each and not each.startswith(("/", "..")))
    return tuple(dict.fromkeys(each for each in places if os.path.isdir(tree / each)))


def _of_other_projects(tree: Path) -> Iterator[str]:
    """Yield where other projects in the tree have their modules."""
    try:
        projects = projects_beside(tree)
    except DeclarationError:
        return
    for project in projects:
        place = project.relative_to(tree).as_posix()
        yield f"{place}/{_SRC}" if (project / _SRC).is_dir() else place


def _of_tox(text: str) -> Iterator[str]:
    """Yield the directories that tox puts on the import path for tests."""
    for value in _IN_TOX.findall(text):
        for part in value.rstrip(" \t").split(":"):
            place = _TOX_ROOT.sub("", part)
            if place != "." and "{" not in place:
                yield place


def _document(path: Path) -> dict[str, Any]:
    text = _text(path)
    if "package-dir" not in text:
        return {}
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
