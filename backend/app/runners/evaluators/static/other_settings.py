"""Tells which type errors the checker does not report in another setting, and which are thus no proof.

Types of the standard library differ between versions of Python, and a project that fixes no version is
checked with the one that its developers use. A common case is a `type: ignore` that became needless there.
A project may also decide, in the same change as the code, to check less strictly or with another checker. And
a pre-commit hook runs mypy in a separate environment, where the types of the project's packages are unknown.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.runners.evaluators.protection.tool_settings import UnreadableSettingsError, settings_in
from app.runners.evaluators.static.baseline import Finding
from app.runners.evaluators.static.doubt import Why
from app.runners.evaluators.static.mypy_tool import Mypy
from app.runners.evaluators.static.trees import StaticTrees
from app.runners.evaluators.static.type_scope import has_mypy_hook
from app.runners.evaluators.static.type_settings import BUILT_IN, TypeSettings, settings_of
from app.runners.evaluators.static.type_tool import SettingsUnusableError, TypeChecker
from app.runners.evaluators.tooling import ToolTroubleError

NEWEST = "3.14"
_HIDES_FILES = "ignore_errors"
_OLDER = f"types of Python {NEWEST} do not have this error"
_APART = "the project's pre-commit hook runs mypy without its packages, where this is no error"
_OTHER_CHECKERS = ("ty", "pyright", "basedpyright")
_ALLOWED = "the change also edits mypy's configuration, which then allows it"
_EXCLUDED = "the change also edits mypy's configuration, which then leaves out this new file"


@dataclass(frozen=True, slots=True)
class OtherSettings:
    """Settings in which an error may not exist.

    Attributes:
        newer: the checker for the newest Python; None if the project's settings fix a version.
        own: the checker with the candidate's own settings; None if they are the base's.
        apart: the checker without the project's packages; None if the base has no hook that runs it so.
        faults: rules that count under any settings of a project.
        hides: whether the candidate's own settings ignore the errors of more files. They then count only for
            new files, as for generated code that is added.
        checker: the checker that the candidate configures instead of mypy; empty if there is none.
    """

    newer: Mypy | None
    own: Mypy | None
    apart: Mypy | None
    faults: Collection[str]
    hides: bool = False
    checker: str = ""

    async def why(
        self, trees: StaticTrees, files: Sequence[str], found: Sequence[Finding], new: Iterable[Finding]
    ) -> Why:
        """Return why errors are no proof.

        Args:
            trees: the candidate and the base.
            files: the files that were checked.
            found: the errors of that check.
            new: the findings that the base does not have. Without one, nothing is called again.
        """
        left = set(new).intersection(found)
        older = await _gone_with(self.newer, trees, files, left)
        open_ones = {each for each in left - older if each.rule not in self.faults}
        fresh = {each for each in open_ones if trees.base is not None and each.file not in trees.base.files}
        excluded = {each for each in fresh if self.own is not None and not self.own.covers(each.file)}
        allowed = await _gone_with(self.own, trees, files, fresh if self.hides else open_ones)
        unknown = await _gone_with(self.apart, trees, files, open_ones - allowed - excluded)
        reasons = {
            **(
                dict.fromkeys(open_ones, f"the change replaces mypy by {self.checker}")
                if self.checker
                else {}
            ),
            **dict.fromkeys(unknown, _APART),
            **dict.fromkeys(allowed, _ALLOWED),
            **dict.fromkeys(excluded, _EXCLUDED),
            **dict.fromkeys(older, _OLDER),
        }
        return lambda each: reasons.get(each, "")


def other_settings(
    checker: TypeChecker, base: Path | None, workspace: Path, faults: Collection[str]
) -> OtherSettings:
    """Return the other settings for a candidate. There are none unless the checker is mypy."""
    if not isinstance(checker, Mypy):
        return OtherSettings(None, None, None, faults)
    apart = checker.without_packages() if base is not None and has_mypy_hook(base) else None
    own, known = settings_of(workspace), checker.settings
    is_removed = known.config_text is not None and own == BUILT_IN
    other = _other_checker(workspace) if is_removed else ""
    hides = _count_hidden(own) > _count_hidden(known)
    return OtherSettings(checker.for_python(NEWEST), _own(checker, own), apart, faults, hides, other)


def _count_hidden(settings: TypeSettings) -> int:
    return (settings.config_text or "").count(_HIDES_FILES)


def _other_checker(workspace: Path) -> str:
    """Return a checker other than mypy that a tree configures; empty if there is none."""

    def read(name: str) -> bytes | None:
        path = workspace / name
        return path.read_bytes() if path.is_file() and not path.is_symlink() else None

    try:
        configured = settings_in(read)
    except (UnreadableSettingsError, OSError):
        return ""
    return next((name for name in _OTHER_CHECKERS if name in configured), "")


def _own(checker: Mypy, own: TypeSettings) -> Mypy | None:
    known = checker.settings
    if known.config_text is None or own.config_text is None or own.config_text == known.config_text:
        return None
    return replace(checker, cache=None, settings=replace(own, scope=known.scope))


async def _gone_with(
    other: Mypy | None, trees: StaticTrees, files: Sequence[str], new: Collection[Finding]
) -> set[Finding]:
    if other is None or not new:
        return set()
    try:
        again = await other.check(trees.copy.path, files, trees.changed)
    except (ToolTroubleError, SettingsUnusableError):
        return set()
    return set() if again.unfinished or again.unchecked else set(new).difference(again.found)
