"""Holds out a share of the cases that a base's own tests have."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from app.core.errors import InvalidInputError
from app.runners.evaluators.held_out.held_out_files import check_held_out
from app.runners.evaluators.held_out.hiding import PartlyHidden, hide_cases
from app.runners.evaluators.protection.rules import matches
from app.runners.evaluators.testing.layout.config import settings_for
from app.runners.evaluators.testing.layout.setting import is_test_file
from app.runners.evaluators.testing.sorting.goal import Goal
from app.runners.evaluators.tree_files import tree_files
from app.schemas.held_out import HiddenCases
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


@dataclass(frozen=True, slots=True)
class Wanted:
    """The cases to hide.

    Attributes:
        share: the share of them, more than 0.
        goal: names the tests whose cases are hidden.
        seed: decides which cases are hidden.
        opened: globs of files that stay complete.
    """

    share: float
    goal: Goal
    seed: int
    opened: Sequence[str] = ()


async def hold_out_share(wanted: Wanted, repository: RunRepository, base: str) -> SharedOut:
    """Replace a run's base by one whose tests show only a part of their cases.

    Args:
        wanted: the cases to hide.
        repository: holds only the base, and keeps it if this raises.
        base: the base's commit.

    Raises:
        InvalidInputError: the goal names no test, or the cases of its tests cannot be hidden.
        WorkspaceError: the base is larger than the limits.
    """
    place = Path(await anyio.mkdtemp(prefix="phaserunner-held-out-"))
    try:
        await repository.checkout_base(base, place / "base")
        hidden = await anyio.to_thread.run_sync(_hide, wanted, place / "base", repository)
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


def _hide(wanted: Wanted, base: Path, repository: RunRepository) -> Mapping[str, tuple[str, PartlyHidden]]:
    """Return the files with hidden cases by path, each with its complete text."""
    chance = random.Random(wanted.seed)  # noqa: S311 - an agent cannot guess cases from it
    patterns = settings_for(base, base).test_files
    found: dict[str, tuple[str, PartlyHidden]] = {}
    names_any = may_change = False
    tests = [each for each in tree_files(base, repository.limits) if is_test_file(each, patterns)]
    for name in sorted(each for each in tests if each.endswith(".py")):
        named, text = _Named(wanted.goal, name), _text(base / name)
        part = None if text is None else _part(text, wanted.share, chance, named)
        names_any = names_any or named.any
        is_open = matches(name, wanted.opened)
        may_change = may_change or (named.any and is_open)
        if text is not None and part is not None and not is_open:
            found[name] = (text, part)
    if not found:
        raise InvalidInputError(_why_not(names_any=names_any, may_change=may_change), field=_FIELD)
    _check(found, base, repository)
    return found


def _why_not(*, names_any: bool, may_change: bool) -> str:
    if not names_any:
        return "the goal names no test in Python; name tests with goal_tests, or their file in the goal"
    if may_change:
        return "the sprint may change the goal's tests"
    return "no case of the goal's tests can be hidden: they have too few rows and checks"


def _check(found: Mapping[str, tuple[str, PartlyHidden]], base: Path, repository: RunRepository) -> None:
    """Check the complete files against the tree that the agent starts from."""
    for name, (_, part) in found.items():
        (base / name).write_bytes(part.text.encode())
    check_held_out({name: whole.encode() for name, (whole, _) in found.items()}, base, repository.limits)


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
