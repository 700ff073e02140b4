"""Which type checkers there are, and how each is prepared for a tree."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from app.runners.evaluators.mypy_tool import Mypy
from app.runners.evaluators.tooling import Scratch
from app.runners.evaluators.type_settings import BUILT_IN, settings_of
from app.runners.evaluators.type_tool import TypeChecker

CheckerName = Literal["mypy"]


@dataclass(frozen=True, slots=True)
class CheckerPlace:
    """What a checker works with.

    Attributes:
        scraps: where it may write.
        base: the tree whose configuration counts.
        python: interpreter whose installed packages count; None is the one this program runs on.
        seconds: for one call.
        cache: directory in which it may remember what it has checked.
    """

    scraps: Scratch
    base: Path | None
    python: Path | None
    seconds: float
    cache: Path | None = None


def remembers(name: CheckerName) -> bool:
    """True when a checker is quicker the second time; the others are quick, or read everything anew."""
    return name == "mypy"


def open_checker(name: CheckerName, place: CheckerPlace, unusable: str = "") -> TypeChecker:
    """Prepare a checker under the base's settings, or under its built-in ones when those are unusable.

    Raises:
        ToolTroubleError: it is not installed.
    """
    settings = replace(BUILT_IN, source=f"built-in ({unusable})") if unusable else settings_of(place.base)
    return Mypy(place.scraps, settings, place.python, place.seconds, place.cache)
