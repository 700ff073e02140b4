"""Reads what conda environments list. The same names are mostly those of packages on PyPI."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.workspaces.environments.reading import DeclarationError, read_text

_FILE = re.compile(r"(?<![\w./-])(?:\./)?((?:[\w-][\w.-]*/)*[\w-][\w.-]*\.ya?ml)(?![\w/.-])")
_USUAL = ("environment.yml", "environment.yaml")
_MOST_FILES = 10
_DEPENDENCIES = re.compile(
    r"^dependencies:[ \t]*\n((?:[ \t]*(?:-|#).*\n|[ \t]*\n|[ \t]+-.*\n)*)", re.MULTILINE
)
_PACKAGE = re.compile(
    r"^[ \t]*-[ \t]+['\"]?(?:[\w-]+::)?([A-Za-z][\w.-]*)(?:\[[\w,]+\])?"
    r"[ \t]*([<>!~=]=[\w.,<>!~=*]+|[<>][\w.,<>!~=*]+)?(?:=.*)?['\"]?[ \t]*(?:#.*)?$",
    re.MULTILINE,
)
_NO_PACKAGES = frozenset({"python", "pip"})


def conda_words(tree: Path, texts: Iterable[str]) -> list[str]:
    """Return the packages in conda environments that commands name, or that have the usual name.

    Args:
        tree: the base.
        texts: the files with commands for tests.
    """
    named = [name for text in texts for name in _FILE.findall(text)]
    files = list(dict.fromkeys([*_USUAL, *named]))
    existing = [name for name in files if ".." not in name.split("/") and (tree / name).is_file()]
    return [line for name in existing[:_MOST_FILES] for line in _listed(tree, name)]


def _listed(tree: Path, name: str) -> Iterator[str]:
    try:
        text = read_text(tree, name) or ""
    except DeclarationError:  # it only adds to the project files, so it is ignored
        return
    found = _DEPENDENCIES.search(f"{text}\n")
    for package, releases in _PACKAGE.findall(found.group(1) if found else ""):
        if package.lower() not in _NO_PACKAGES:
            yield f"{package}{releases}"
