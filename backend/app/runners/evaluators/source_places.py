"""Finds directories below a project's root from which its modules are imported."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from app.workspaces.environments.reading import table, texts

_SRC = "src"
_MOST_MEMBERS = 200
_IN_SETUP_PY = re.compile(r"package_dir['\"]?\s*[=:]\s*\{\s*(?:''|\"\")\s*:\s*['\"]([\w./-]+)['\"]")
_IN_SETUP_CFG = re.compile(r"^package_dir\s*=\s*=\s*([\w./-]+)\s*$", re.MULTILINE)


def source_places(tree: Path) -> tuple[str, ...]:
    """Return the directories with modules besides the root, as POSIX paths below the tree.

    These are `src` by convention, and the directory that `package_dir` gives the root package; see
    https://setuptools.pypa.io/en/latest/userguide/package_discovery.html. The members of uv's workspace have
    theirs; see https://docs.astral.sh/uv/concepts/projects/workspaces/. Only existing directories are
    returned.
    """
    document = _document(tree / "pyproject.toml")
    named = [_SRC, *_IN_SETUP_PY.findall(_text(tree / "setup.py"))]
    named += [
        *_IN_SETUP_CFG.findall(_text(tree / "setup.cfg")),
        *texts(table(document, "tool", "setuptools", "package-dir").get("")),
        *_of_members(tree, table(document, "tool", "uv", "workspace")),
    ]
    inside = (each.removeprefix("./").rstrip("/") for each in named)
    places = (each for each in inside if each and not each.startswith(("/", "..")))
    return tuple(dict.fromkeys(each for each in places if (tree / each).is_dir()))


def _of_members(tree: Path, workspace: Mapping[str, Any]) -> Iterator[str]:
    """Yield where the members of a workspace have their modules."""
    excluded = set(_found(tree, workspace.get("exclude")))
    for place in islice(_found(tree, workspace.get("members")), _MOST_MEMBERS):
        if place not in excluded and not place.is_symlink() and (place / "pyproject.toml").is_file():
            member = place.relative_to(tree).as_posix()
            yield f"{member}/{_SRC}" if (place / _SRC).is_dir() else member


def _found(tree: Path, patterns: object) -> Iterator[Path]:
    """Yield the paths below a tree that patterns match. Ignore those that lead elsewhere or are none."""
    for pattern in texts(patterns):
        if ".." not in pattern.split("/"):
            # `glob` raises these for malformed and absolute patterns, and for directories it cannot read.
            with suppress(ValueError, NotImplementedError, OSError):
                yield from sorted(islice(tree.glob(pattern), _MOST_MEMBERS))


def _document(path: Path) -> dict[str, Any]:
    text = _text(path)
    if "package-dir" not in text and "workspace" not in text:
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
