"""Tells which type errors the newest Python does not have.

Types of the standard library differ between versions of Python, and a project that fixes no version is
checked with the one that its developers use. An error that their version does not have is no proof. A common
case is a `type: ignore` that became needless there.
"""

from collections.abc import Sequence

from app.runners.evaluators.static.baseline import Comparison, Finding
from app.runners.evaluators.static.doubt import Why
from app.runners.evaluators.static.mypy_tool import Mypy
from app.runners.evaluators.static.trees import StaticTrees
from app.runners.evaluators.static.type_tool import SettingsUnusableError, TypeChecker
from app.runners.evaluators.tooling import ToolTroubleError

NEWEST = "3.14"


async def only_in_older_python(
    checker: TypeChecker,
    trees: StaticTrees,
    files: Sequence[str],
    found: Sequence[Finding],
    comparison: Comparison,
) -> Why:
    """Return why errors are no proof: the checker does not report them for the newest Python.

    Args:
        checker: only mypy is called again, and only if the project's settings fix no version.
        trees: the candidate and the base.
        files: the files that were checked.
        found: the errors of that check.
        comparison: of all findings with the base. Without a new one, nothing is called again.
    """
    newer = checker.for_python(NEWEST) if isinstance(checker, Mypy) else None
    new = set(comparison.new).intersection(found)
    if newer is None or not new:
        return lambda _: ""
    try:
        again = await newer.check(trees.copy.path, files, trees.changed)
    except (ToolTroubleError, SettingsUnusableError):
        return lambda _: ""
    if again.unfinished or again.unchecked:
        return lambda _: ""
    gone = new.difference(again.found)
    return lambda each: f"types of Python {NEWEST} do not have this error" if each in gone else ""
