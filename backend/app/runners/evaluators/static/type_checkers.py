"""The supported type checkers, and how each is prepared for a tree."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from app.runners.evaluators.static import pyright_tool, ty_tool, type_settings
from app.runners.evaluators.static.mypy_tool import Mypy
from app.runners.evaluators.static.pyright_tool import Pyright, pyright_settings
from app.runners.evaluators.static.ty_tool import Ty, ty_settings
from app.runners.evaluators.static.type_settings import settings_of
from app.runners.evaluators.static.type_tool import TypeChecker
from app.runners.evaluators.tooling import Scratch, ToolTroubleError
from app.schemas.evaluation import CheckerName


@dataclass(frozen=True, slots=True)
class CheckerPlace:
    """The directories and limits of a checker.

    Attributes:
        scraps: where it may write.
        base: the tree with the configuration that counts.
        python: interpreter with the installed packages that count; None is the one that runs this program.
        seconds: time limit for one call.
        cache: directory for its cache.
        programs: directory with the checkers' programs; None is that of this program's interpreter.
    """

    scraps: Scratch
    base: Path | None
    python: Path | None
    seconds: float
    cache: Path | None = None
    programs: Path | None = None


def remembers(name: CheckerName) -> bool:
    """Return True if a checker's cache saves time. The others are fast, or read everything again."""
    return name == "mypy"


def open_checker(name: CheckerName, place: CheckerPlace, unusable: str = "") -> TypeChecker:
    """Prepare a checker with the base's settings, or with its built-in ones if those are unusable.

    Raises:
        ToolTroubleError: it is not installed.
    """
    python = place.python or Path(sys.executable)
    source = f"built-in ({unusable})"
    if name == "mypy":
        known = replace(type_settings.BUILT_IN, source=source) if unusable else settings_of(place.base)
        return Mypy(place.scraps, known, place.python, place.seconds, place.cache)
    binary = _program(name, place)
    if name == "ty":
        rules = replace(ty_tool.BUILT_IN, source=source) if unusable else ty_settings(place.base)
        return Ty(binary, place.scraps, rules, python, place.seconds)
    chosen = replace(pyright_tool.BUILT_IN, source=source) if unusable else pyright_settings(place.base, name)
    return Pyright(name, binary, place.scraps, chosen, python, place.seconds)


def _program(name: CheckerName, place: CheckerPlace) -> Path:
    path = (place.programs or Path(sys.executable).parent) / name
    if not path.is_file():
        raise ToolTroubleError(
            f"{name} is not installed next to PhaseRunner; install it with "
            f"pip install 'phaserunner[{name}]', or set EVALUATOR_TYPE_CHECKER=mypy"
        )
    return path
