"""Finds the settings with which a Django project runs its tests, as its own runner would find them."""

import os
import re
from pathlib import Path
from typing import NamedTuple

from app.workspaces.environments.reading import DeclarationError, read_text
from app.workspaces.environments.tox_sections import tox_sections

PLUGIN = "pytest-django"
"""Runs the tests of Django projects: it sets Django up, and makes a database for them."""

_PLACES = (
    *("tox.ini", "noxfile.py", "Makefile", "justfile", "setup.cfg", "pyproject.toml"),
    *("runtests.py", "tests/runtests.py", "run.sh", "runtests.sh", "run_tests.sh", "test.sh"),
    *("tests/manage.py", "manage.py"),
)
"""What runs tests comes first: its settings may differ from those of the site."""
_OPTION = re.compile(r"--settings[= ]['\"]?([A-Za-z_][\w.]*)")
_VARIABLE = re.compile(r"\bDJANGO_SETTINGS_MODULE\b['\"]?\]?\s*+[:,?]?=?\s*+['\"]?([A-Za-z_][\w.]*)")
_ROOTS = ("", "src")


class DjangoSettings(NamedTuple):
    """The settings with which a Django project runs its tests.

    Attributes:
        module: the dotted name of the module.
        place: the directory, relative to the tree, from which it and the project's applications are imported.
            The tree itself and `src` are empty, because tests import from there anyway.
    """

    module: str
    place: str


def settings_of(tree: Path) -> DjangoSettings | None:
    """Return the settings for tests, or None.

    They are named in a file that starts tests or the site, and are in the tree. A program imports from its
    own directory, too.
    """
    for name in _PLACES:
        for pattern in (_OPTION, _VARIABLE):
            for found in pattern.findall(_text(tree, name)):
                if _is_there(tree, found):
                    return DjangoSettings(found, "")
                place = os.path.dirname(name)
                if place and _is_there(tree / place, found):
                    return DjangoSettings(found, place)
    return None


def settings_of_tox(tree: Path) -> str:
    """Return the settings module that tox gives to the tests of a project with pytest-django, or `""`."""
    try:
        options = tox_sections(tree).get("testenv", {})
    except DeclarationError:
        return ""
    if PLUGIN not in options.get("deps", ""):
        return ""
    found = _VARIABLE.findall(options.get("setenv", "") + "\n" + options.get("set_env", ""))
    return next((each for each in found if _is_there(tree, each)), "")


def _text(tree: Path, name: str) -> str:
    try:
        return read_text(tree, name) or ""
    except DeclarationError:
        return ""


def _is_there(tree: Path, module: str) -> bool:
    place = Path(*module.split("."))
    return any(
        os.path.isfile((tree / root / place).with_suffix(".py"))
        or os.path.isfile(tree / root / place / "__init__.py")
        for root in _ROOTS
    )
