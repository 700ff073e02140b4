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
from app.runners.evaluators.static.trees import StaticTrees

_ALLOWED = "the change also edits ruff's configuration, which then allows it"
_EXCLUDED = "the change also edits ruff's configuration, which then excludes this new file"


def own_rules(workspace: Path, rules: LintRules) -> LintRules | None:
    """Return the candidate's own rules; None if nothing differs from the base's.

    Args:
        workspace: the candidate.
        rules: those of the base.
    """
    own = rules_of(workspace)
    if rules.built_in or own.built_in or own.files == rules.files:
        return None
    return own


async def allowed_by(
    own: LintRules | None, ruff: Ruff, trees: StaticTrees, found: Collection[Finding]
) -> Why:
    """Return why a new finding is no proof: the candidate's own rules allow it. Faults always count.

    An exclusion takes files out of sight, which is no decision about a rule. Only new files may be excluded,
    as generated ones are when they are added.

    Args:
        own: the candidate's own rules; None if there are none.
        ruff: the linter.
        trees: candidate and base.
        found: the new findings.

    Raises:
        ToolTroubleError: there is no report.
    """
    open_ones = [each for each in found if not is_fault(each.rule)]
    if own is None or not open_ones:
        return lambda _: ""
    place = trees.place / "own"
    await asyncio.to_thread(_copy, trees.copy, place)
    await asyncio.to_thread(lay_out, own, place)
    files = sorted({each.file for each in open_ones})
    new = [name for name in files if trees.base is not None and name not in trees.base.files]
    try:
        left = await ruff.under(_without_exclusions(own)).findings(place, files)
        excluded = set(new).difference(await ruff.under(own).selected(place, new))
    except RulesUnusableError:
        return lambda _: ""
    kept = {(each.file, each.line, each.rule) for each in left}
    allowed = {each for each in open_ones if (each.file, each.line, each.rule) not in kept}
    return lambda each: _why(each, allowed, excluded)


def _why(finding: Finding, allowed: Collection[Finding], excluded: Collection[str]) -> str:
    if finding in allowed:
        return _ALLOWED
    return _EXCLUDED if finding.file in excluded and not is_fault(finding.rule) else ""


def _without_exclusions(rules: LintRules) -> LintRules:
    return replace(rules, arguments=tuple(each for each in rules.arguments if each != "--force-exclude"))


def _copy(copy: AnalysedCopy, into: Path) -> None:
    for name in copy.files:
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(copy.path / name, into / name)
