"""Finds directories below a project's root from which its modules are imported."""

import os
import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from app.workspaces.environments.beside import projects_beside
from app.workspaces.environments.reading import DeclarationError, table, texts

_SRC = "src"
_NAMES_PLACES = ("package-dir", "packages", "dev-mode-dirs", "module-root")
_IN_SETUP_PY = re.compile(r"package_dir['\"]?\s*[=:]\s*\{\s*(?:''|\"\")\s*:\s*['\"]([\w./-]+)['\"]")
_IN_TOX = re.compile(r"^[ \t]*(?:set_?env[ \t]*=[ \t]*)?PYTHONPATH[ \t]*=[ \t]*(\S.*)$", re.MULTILINE)
_TOX_ROOT = re.compile(r"^\{(?:toxinidir|tox_root)\}/?")
_IN_SETUP_CFG = re.compile(r"^package_dir\s*=\s*=\s*([\w./-]+)\s*$", re.MULTILINE)


def source_places(tree: Path) -> tuple[str, ...]:
    """Return the directories with modules besides the root, as POSIX paths below the tree.

    These are `src` by convention, and those that the project's build backend names. Other projects in the
    tree have theirs. tox may name more in `PYTHONPATH`. Only existing directories are returned.
    """
    document = _document(tree / "pyproject.toml")
    named = [_SRC, *_IN_SETUP_PY.findall(_text(tree / "setup.py"))]
    named += [
        *_IN_SETUP_CFG.findall(_text(tree / "setup.cfg")),
        *_of_build_backend(document),
        *_of_other_projects(tree),
        *_of_tox(_text(tree / "tox.ini")),
    ]
    inside = (posixpath.normpath(each) for each in named if each)
    places = (each for each in inside if each != "." and not each.startswith(("/", "..")))
    return tuple(dict.fromkeys(each for each in places if os.path.isdir(tree / each)))


def _of_build_backend(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield where a build takes modules from.

    Setuptools and PDM have `package-dir`, Hatch `packages` and `dev-mode-dirs`, Poetry `packages`, and uv
    `module-root`. See https://setuptools.pypa.io/en/latest/userguide/package_discovery.html,
    https://hatch.pypa.io/latest/config/build/ and https://python-poetry.org/docs/pyproject/.
    """
    yield from texts(table(document, "tool", "setuptools", "package-dir").get(""))
    yield from texts(table(document, "tool", "pdm", "build").get("package-dir"))
    yield from texts(table(document, "tool", "uv", "build-backend").get("module-root"))
    yield from texts(table(document, "tool", "hatch", "build").get("dev-mode-dirs"))
    for package in texts(table(document, "tool", "hatch", "build", "targets", "wheel").get("packages")):
        yield package.rstrip("/").rpartition("/")[0]
    listed = table(document, "tool", "poetry").get("packages")
    for package in cast("list[object]", listed) if isinstance(listed, list) else []:
        yield from texts(table({"it": package}, "it").get("from"))


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
    if not any(each in text for each in _NAMES_PLACES):
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
