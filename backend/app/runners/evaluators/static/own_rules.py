"""Finds new lint findings that the candidate's own configuration of the linter allows."""

import asyncio
import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from app.runners.evaluators.static.analysed_copy import AnalysedCopy
from app.runners.evaluators.static.baseline import Finding
from app.runners.evaluators.static.doubt import Why
from app.runners.evaluators.static.ruff_rules import LintRules, is_fault, lay_out, rules_of
from app.runners.evaluators.static.ruff_tool import Ruff, RulesUnusableError

_ALLOWED = "the change also edits ruff's configuration, which then allows it"


def own_rules(workspace: Path, rules: LintRules) -> LintRules | None:
    """Return the candidate's own rules, without its exclusions; None if nothing differs from the base's.

    Args:
        workspace: the candidate.
        rules: those of the base.
    """
    own = rules_of(workspace)
    if rules.built_in or own.built_in or own.files == rules.files:
        return None
    # An exclusion takes files out of sight. It is not a decision about a rule.
    return replace(own, arguments=tuple(each for each in own.arguments if each != "--force-exclude"))


async def allowed_by(
    own: LintRules | None, ruff: Ruff, copy: AnalysedCopy, found: Collection[Finding], place: Path
) -> Why:
    """Return why a new finding is no proof: the candidate's own rules allow it. Faults always count.

    Args:
        own: the candidate's own rules; None if there are none.
        ruff: the linter.
        copy: the candidate's copy.
        found: the new findings.
        place: a directory that does not exist, for another copy.

    Raises:
        ToolTroubleError: there is no report.
    """
    open_ones = [each for each in found if not is_fault(each.rule)]
    if own is None or not open_ones:
        return lambda _: ""
    await asyncio.to_thread(_copy, copy, place)
    await asyncio.to_thread(lay_out, own, place)
    files = sorted({each.file for each in open_ones})
    try:
        left = await ruff.under(own).findings(place, files)
    except RulesUnusableError:
        return lambda _: ""
    kept = {(each.file, each.line, each.rule) for each in left}
    allowed = {each for each in open_ones if (each.file, each.line, each.rule) not in kept}
    return lambda each: _ALLOWED if each in allowed else ""


def _copy(copy: AnalysedCopy, into: Path) -> None:
    for name in copy.files:
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(copy.path / name, into / name)
