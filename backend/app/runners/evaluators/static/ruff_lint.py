"""The lint gate: ruff under a configuration that the candidate cannot change."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse
from pathlib import Path

from app.runners.evaluators.protocol import (
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    errored,
    skipped,
)
from app.runners.evaluators.static.analysed_copy import AnalysedCopy
from app.runners.evaluators.static.baseline import (
    INVALID_SYNTAX,
    Comparison,
    Finding,
    Wording,
    often_broken,
    result_of,
)
from app.runners.evaluators.static.doubt import BaseControl, asked, newer_name, sorted_by_doubt
from app.runners.evaluators.static.followed_files import followed_files
from app.runners.evaluators.static.own_rules import allowed_by, own_rules
from app.runners.evaluators.static.python_2 import is_for_python_2
from app.runners.evaluators.static.ruff_pin import pinned_ruff
from app.runners.evaluators.static.ruff_rules import (
    LintRules,
    is_fault,
    lay_out,
    quiet,
    rules_of,
)
from app.runners.evaluators.static.ruff_tool import Ruff, RulesUnusableError
from app.runners.evaluators.static.silencing_comments import Tool
from app.runners.evaluators.static.target_version import newer_syntax, raised_target, target_without_rules
from app.runners.evaluators.static.trees import StaticTrees, open_trees
from app.runners.evaluators.static.unread_annotations import unread_annotations, unread_on_purpose
from app.runners.evaluators.tooling import (
    ToolTroubleError,
    find_base,
    find_workspace,
    scratch,
    seconds_here_for,
)
from app.schemas.questions import ProtectedPolicy

_WORDING = Wording(
    "lint error",
    "The code passes all lint checks",
    "no_new_lint_errors",
    "the base does not follow these rules",
)
_UNUSABLE = "the rules of the project cannot be read, so its exceptions are unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuffLintEvaluator:
    """Fails on lint errors that the base does not have.

    The rules are those of the base tree's configuration files; without any, a small set. If the base
    configures no linter, or breaks a rule in many places itself, only faults count (code that cannot be
    parsed, undefined names), unless many files of their directory have such faults at the base; other
    findings are advice. The candidate's configuration and exclusions have no effect, nor do comments that
    silence ruff unless the base has them. The one exception is `# noqa: F401` or `E402`, with these codes: an
    import for its side effect, or one that must come late, is no fault, and honest code has such comments
    often. If the candidate drops old versions of Python, both trees are linted for the new oldest one. If the
    base's own findings, or its own comments of that kind, cast doubt on a finding (see `doubt`), or the
    candidate's own configuration allows it or excludes the new file, a person is asked. Each new error costs
    0.1 of the score.

    Attributes:
        timeout: seconds for ruff; it usually needs hundredths of one.
        allow_silencers: whether new comments that silence ruff count, too.
        protected: what happens to doubtful findings, unless the context says so.
    """

    timeout: float = 30.0
    allow_silencers: bool = False
    protected: ProtectedPolicy = ProtectedPolicy.ASK
    name: str = "ruff_lint"
    category: EvaluationCategory = EvaluationCategory.COMPLIANCE
    version: str = "4"
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Lint the workspace. `output` and `phase` are not used."""
        workspace = find_workspace(self, context, "lint")
        if isinstance(workspace, EvaluationResult):
            return workspace
        policy = context.get("protected_policy", self.protected)
        try:
            seconds = seconds_here_for(context, self.timeout)
            return await self._judge(workspace, find_base(context), seconds, policy)
        except ToolTroubleError as trouble:
            return errored(self, str(trouble), version=self.version)

    async def _judge(
        self, workspace: Path, base: Path | None, seconds: float, policy: ProtectedPolicy
    ) -> EvaluationResult:
        with scratch(Path(sys.executable)) as scraps:
            trees = await open_trees(workspace, base, Tool.LINTER, scraps.path, allow=self.allow_silencers)
            if trees is None:
                return skipped(self, "No Python files to lint", version=self.version)
            rules = await asyncio.to_thread(_rules_for, base, workspace)
            ruff = Ruff(scraps, rules, seconds)
            own = await asyncio.to_thread(own_rules, workspace, rules)
            unknown: frozenset[str] = frozenset()
            while True:
                known = own.without(unknown) if own is not None else None
                try:
                    return await self._compare(ruff.under(rules.without(unknown)), trees, known, policy)
                except RulesUnusableError as unusable:
                    if unusable.unknown <= unknown:
                        reason = str(unusable)
                        break
                    unknown |= unusable.unknown
            usable = await asyncio.to_thread(_aimed, quiet(reason), base, workspace)
            return await self._compare(ruff.under(usable), trees, None, policy)

    async def _compare(
        self, ruff: Ruff, trees: StaticTrees, own: LintRules | None, policy: ProtectedPolicy
    ) -> EvaluationResult:
        copy = trees.copy
        await asyncio.to_thread(lay_out, ruff.rules, copy.path)
        wanted = await ruff.selected(copy.path, copy.files) if copy.files else []
        if not wanted and not copy.faults:
            reason = f"The project's configuration ({ruff.rules.source}) excludes every file from lint"
            return skipped(self, reason, version=self.version)

        async def check_base(base: AnalysedCopy, files: list[str]) -> Sequence[Finding]:
            await asyncio.to_thread(lay_out, ruff.rules, base.path)
            return await ruff.findings(base.path, files)

        found = [*await ruff.findings(copy.path, wanted), *await _faults_left_out(ruff, trees, wanted)]
        comparison = await trees.compare(found, check_base)
        old = await asyncio.to_thread(_for_python_2, comparison, copy.path)
        comparison = comparison.advising(lambda each: each in old)
        if trees.base is None or not comparison.new:
            return self._result(ruff, comparison, copy, wanted)
        unread = await asyncio.to_thread(unread_annotations, comparison.new, copy.path)
        is_open = any(not _is_plain_fault(each) or each in unread for each in comparison.new)
        control = await self._control(ruff, trees)
        syntax = await asyncio.to_thread(newer_syntax, trees.base.path, trees.root, control.findings)
        comparison = replace(comparison, new=tuple(filterfalse(syntax.fits, comparison.new)))
        comparison = comparison.advising(await self._matters_of_taste(ruff, trees, comparison, control))
        if is_open:
            allowed = await allowed_by(own, ruff, trees, comparison.new)
            there = await asyncio.to_thread(unread_annotations, control.findings, trees.copy_of_base().path)
            meant = unread_on_purpose(unread, there, copy.comment_naming)
            why = (copy.hidden, control.why, allowed, meant, syntax.why)
            comparison = sorted_by_doubt(comparison, why, policy)
        return self._result(ruff, comparison, copy, wanted)

    def _result(
        self, ruff: Ruff, comparison: Comparison, copy: AnalysedCopy, wanted: Sequence[str]
    ) -> EvaluationResult:
        is_unusable = ruff.rules.built_in and ruff.rules.source != quiet().source
        return result_of(
            self,
            comparison,
            replace(_WORDING, why_advice=_UNUSABLE) if is_unusable else _WORDING,
            files_checked=len(wanted),
            files_excluded=len(copy.files) - len(wanted),
            configuration=ruff.rules.source,
            tool="ruff",
            **asked(comparison, _WORDING.noun),
        )

    async def _control(self, ruff: Ruff, trees: StaticTrees) -> BaseControl:
        copy = await asyncio.to_thread(trees.copy_of_base)
        await asyncio.to_thread(lay_out, ruff.rules, copy.path)
        at_base = await ruff.findings(copy.path, await ruff.selected(copy.path, copy.files))
        return BaseControl(at_base, is_fault, _WORDING.noun)

    async def _matters_of_taste(
        self, ruff: Ruff, trees: StaticTrees, comparison: Comparison, control: BaseControl
    ) -> Callable[[Finding], bool]:
        """Return which new findings only advise: those of rules that the base neither chose nor follows.

        A preview rule, or a rule newer than the project's ruff, counts only if the base names it by its full
        code.
        """
        open_rules = {each.rule for each in comparison.new if not is_fault(each.rule)}
        loose = often_broken(control.findings, but=is_fault)
        if ruff.rules.unconfigured:
            return lambda each: each.rule in open_rules or loose.covers(each)
        # A project that chooses groups of rules has not agreed to rules that its own ruff does not have.
        pinned = await asyncio.to_thread(pinned_ruff, trees.base.path) if trees.base is not None else None
        unsettled = await ruff.unsettled(open_rules, pinned) - set(ruff.rules.chosen)
        return lambda each: (
            loose.covers(each)
            or each.rule in unsettled
            or (not is_fault(each.rule) and not ruff.rules.chooses(each.rule))
        )


async def _faults_left_out(ruff: Ruff, trees: StaticTrees, wanted: Sequence[str]) -> list[Finding]:
    """Return undefined names in new files that the project excludes, and that linted files import.

    An exclusion is for code of others and generated code. It cannot make the candidate's own code right.
    """
    if trees.base is None or len(wanted) == len(trees.copy.files):
        return []
    new = set(trees.copy.files) - set(trees.base.files)
    files = await asyncio.to_thread(followed_files, trees.copy.path, wanted, new)
    found = await ruff.under(quiet("for excluded files")).findings(trees.copy.path, files)
    return [each for each in found if _is_plain_fault(each)]


def _for_python_2(comparison: Comparison, tree: Path) -> list[Finding]:
    return [each for each in comparison.new if is_for_python_2(each, tree)]


def _is_plain_fault(finding: Finding) -> bool:
    """Return True if a finding counts whatever the base has."""
    return is_fault(finding.rule) and finding.rule != INVALID_SYNTAX and not newer_name(finding)


def _rules_for(base: Path | None, workspace: Path) -> LintRules:
    return _aimed(rules_of(base), base, workspace)


def _aimed(rules: LintRules, base: Path | None, workspace: Path) -> LintRules:
    """Return rules for the oldest Python that the candidate supports, if that is no older one than before."""
    if rules.built_in:
        target = target_without_rules(base, workspace)
    else:
        target = raised_target(base, workspace) if base is not None else None
    return rules.aimed_at(target) if target is not None else rules
