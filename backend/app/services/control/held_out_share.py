"""Holds out a share of the cases that a base's own tests have."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from app.core.errors import InvalidInputError
from app.runners.evaluators.held_out.hiding import PartlyHidden, hide_cases
from app.runners.evaluators.project.project_file import ProjectFileError, read_project_file
from app.runners.evaluators.testing.layout.config import settings_for
from app.runners.evaluators.testing.layout.setting import is_test_file
from app.runners.evaluators.testing.sorting.goal import Goal
from app.runners.evaluators.tree_files import tree_files
from app.schemas.held_out import HiddenCases
from app.schemas.project_file import PROJECT_FILE
from app.workspaces.files.removal import remove_tree
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.held_back import hold_back

_FIELD = "held_out.share"


@dataclass(frozen=True, slots=True)
class SharedOut:
    """A base of whose tests a part is held out.

    Attributes:
        start: the commit that agents start from.
        files: the complete test files by path.
        cases: how many cases are hidden.
    """

    start: str
    files: Mapping[str, str]
    cases: HiddenCases


async def hold_out_share(
    share: float, goal: Goal, repository: RunRepository, base: str, seed: int
) -> SharedOut:
    """Replace a run's base by one whose tests show only a part of their cases.

    Args:
        share: the share of cases to hide.
        goal: names the tests whose cases are hidden.
        repository: holds only the base.
        base: the base's commit.
        seed: decides which cases are hidden.

    Raises:
        InvalidInputError: the goal names no test, or no case of its tests can be hidden.
        WorkspaceError: the base is larger than the limits.
    """
    chance = random.Random(seed)  # noqa: S311 - an agent cannot guess cases from it
    place = Path(await anyio.mkdtemp(prefix="phaserunner-held-out-"))
    try:
        await repository.checkout_base(base, place / "base")
        hidden = await anyio.to_thread.run_sync(_hide, share, goal, place / "base", repository, chance)
    finally:
        with anyio.CancelScope(shield=True):
            await remove_tree(place)
    shown = {name: each.text.encode() for name, (_, each) in hidden.items()}
    start = await hold_back(repository, base, shown)
    cases = HiddenCases(
        base=base,
        hidden=sum(each.hidden for _, each in hidden.values()),
        total=sum(each.total for _, each in hidden.values()),
    )
    return SharedOut(start, {name: whole for name, (whole, _) in hidden.items()}, cases)


def _hide(
    share: float, goal: Goal, base: Path, repository: RunRepository, chance: random.Random
) -> Mapping[str, tuple[str, PartlyHidden]]:
    """Return the files with hidden cases by path, each with its complete text."""
    patterns = settings_for(base, base).test_files
    goal = Goal(goal.policy, [*goal.tests, *_named_by_project(base)], goal.words)
    found: dict[str, tuple[str, PartlyHidden]] = {}
    names_any = False
    tests = [each for each in tree_files(base, repository.limits) if is_test_file(each, patterns)]
    for name in sorted(each for each in tests if each.endswith(".py")):
        named, text = _Named(goal, name), _text(base / name)
        part = None if text is None else _part(text, share, chance, named)
        names_any = names_any or named.any
        if text is not None and part is not None:
            found[name] = (text, part)
    if not names_any:
        told = "the goal names no test; name them with goal_tests, or their file in the goal"
        raise InvalidInputError(told, field=_FIELD)
    if not found:
        told = "no case of the goal's tests can be hidden: they have too few rows and checks"
        raise InvalidInputError(told, field=_FIELD)
    return found


def _part(text: str, share: float, chance: random.Random, named: "_Named") -> PartlyHidden | None:
    try:
        return hide_cases(text, share, chance, named)
    except (SyntaxError, ValueError, RecursionError):
        return None


class _Named:
    """Tells which tests of a file belong to the goal; `any` is True once there was one."""

    def __init__(self, goal: Goal, path: str) -> None:
        self._goal = goal
        self._path = path
        self.any = False

    def __call__(self, name: str) -> bool:
        named = self._goal.names(f"{self._path}::{name}")
        self.any = self.any or named
        return named


def _text(path: Path) -> str | None:
    """Return a file's text, or None if a part of it could not be put back byte by byte."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if "\r" not in text.replace("\r\n", "\n") and "\f" not in text else None


def _named_by_project(base: Path) -> list[str]:
    """Return the tests that the project's file names as those of its goal."""
    path = base / PROJECT_FILE
    if path.is_symlink() or not path.is_file():
        return []
    try:
        return list(read_project_file(path.read_bytes()).settings.tests.goal)
    except ProjectFileError:
        return []  # the panel names the problem
