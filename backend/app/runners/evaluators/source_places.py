"""Finds directories below a project's root from which its modules are imported."""

import re
import tomllib
from pathlib import Path

from app.workspaces.environments.reading import table, texts

_SRC = "src"
_IN_SETUP_PY = re.compile(r"package_dir['\"]?\s*[=:]\s*\{\s*(?:''|\"\")\s*:\s*['\"]([\w./-]+)['\"]")
_IN_SETUP_CFG = re.compile(r"^package_dir\s*=\s*=\s*([\w./-]+)\s*$", re.MULTILINE)


def source_places(tree: Path) -> tuple[str, ...]:
    """Return the directories with modules besides the root, as POSIX paths below the tree.

    These are `src` by convention, and the directory that `package_dir` gives the root package; see
    https://setuptools.pypa.io/en/latest/userguide/package_discovery.html. Only existing directories are
    returned.
    """
    named = [_SRC, *_IN_SETUP_PY.findall(_text(tree / "setup.py"))]
    named += [
        *_IN_SETUP_CFG.findall(_text(tree / "setup.cfg")),
        *_in_pyproject(_text(tree / "pyproject.toml")),
    ]
    inside = (each.removeprefix("./").rstrip("/") for each in named)
    places = (each for each in inside if each and not each.startswith(("/", "..")))
    return tuple(dict.fromkeys(each for each in places if (tree / each).is_dir()))


def _in_pyproject(text: str) -> list[str]:
    if "package-dir" not in text:
        return []
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return []
    return texts(table(document, "tool", "setuptools", "package-dir").get(""))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
