"""The gate that protects the base's tests and the tools' configuration."""

import asyncio
from dataclasses import dataclass
from typing import Any

from app.runners.evaluators.protection.questions import folded
from app.runners.evaluators.protection.rules import Offence, Protection, TamperFinding, compare_protected
from app.runners.evaluators.protocol import (
    CriterionResult,
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    errored,
    skipped,
)
from app.runners.evaluators.tooling import ToolTroubleError, find_base, find_workspace
from app.schemas.questions import QUESTIONS, ProtectedPolicy

NAME = "protected_files"

_LISTED = 10
_RECORDED = 50
_DONE: dict[Offence, str] = {
    Offence.CHANGED: "was changed",
    Offence.DELETED: "was deleted",
    Offence.ADDED: "was added",
}
_MEND: dict[Offence, str] = {
    Offence.CHANGED: "Restore {} to its version at the base; put new tests into a separate file",
    Offence.DELETED: "Restore {} to its version at the base",
    Offence.ADDED: "Remove {}; it would decide later runs",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedFilesEvaluator:
    """Fails if tests, fixtures or tool configuration of the base were changed, and says exactly how.

    With the policy *ask*, the failed result holds one question about each change, and uses up no attempt if
    everything else passes. With *note*, the changes are only reported.

    The changes do not affect the verdict anyway, because the tools judge by the base's versions. But they
    would remain in the result. `protection` defines what is protected and what counts as an addition. Without
    a finding the result is `skipped`: untouched tests are no evidence that the work is good.

    Attributes:
        policy: what happens to changes, unless the context says so.
        tests_run: whether the test gate runs the base's versions of the tests beside this evaluator.
    """

    policy: ProtectedPolicy = ProtectedPolicy.ASK
    tests_run: bool = False
    name: str = NAME
    category: EvaluationCategory = EvaluationCategory.TESTING
    version: str = "3"
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Compare the workspace's protected files with the base's. `output` and `phase` are not used."""
        workspace = find_workspace(self, context, "compare")
        if isinstance(workspace, EvaluationResult):
            return workspace
        try:
            base = find_base(context)
        except ToolTroubleError as trouble:
            return errored(self, str(trouble))
        if base is None:
            return skipped(self, "No base to compare with")
        protection = await asyncio.to_thread(
            compare_protected,
            base,
            workspace,
            opened=context.get("open_paths", []),
            extra=context.get("protected_paths", []),
            tests_run=self.tests_run,
        )
        return self._result(protection, context.get("protected_policy", self.policy))

    def _result(self, protection: Protection, policy: ProtectedPolicy) -> EvaluationResult:
        metadata: dict[str, Any] = {
            "protected": len(protection.protected),
            "tampered": [each.path for each in protection.findings[:_RECORDED]],
            "extended": list(protection.extended[:_RECORDED]),
            "opened": list(protection.opened[:_RECORDED]),
        }
        if not protection.findings:
            return skipped(self, _all_well(protection), **metadata)
        questions = folded([asked for each in protection.findings for asked in each.questions])
        if policy is ProtectedPolicy.NOTE:
            return skipped(self, f"Noted: {_feedback(protection)}", **metadata)
        if policy is ProtectedPolicy.ASK:
            metadata[QUESTIONS] = [each.model_dump(mode="json") for each in questions]
        return EvaluationResult(
            evaluator_name=self.name,
            category=self.category,
            passed=False,
            feedback=_feedback(protection),
            criteria=[_criterion(each) for each in protection.findings[:_RECORDED]],
            suggestions=[_MEND[each.offence].format(each.path) for each in protection.findings[:_LISTED]],
            metadata=metadata,
        )


def _all_well(protection: Protection) -> str:
    words = "No protected file was changed"
    if protection.extended:
        words += f"; changed, but at least as strict: {', '.join(protection.extended[:_LISTED])}"
    if protection.opened:
        words += f"; changed, and open to the run: {', '.join(protection.opened[:_LISTED])}"
    return words


def _criterion(finding: TamperFinding) -> CriterionResult:
    return CriterionResult(
        criterion=finding.path,
        passed=False,
        message=f"{finding.path} is protected and {_DONE[finding.offence]}",
        evidence=finding.diff or None,
    )


def _what(finding: TamperFinding) -> str:
    """Return the names of a file's changed tests and fixtures, with what is wrong."""
    inside = [each for each in finding.questions if each.id != finding.path]
    named = [f"{each.id.partition('::')[2]} {each.why}" for each in inside[:_LISTED]]
    return f": {'; '.join(named)}" if named else ""


def _feedback(protection: Protection) -> str:
    findings = protection.findings
    lines = ["Tests and tool configuration of the base are protected; changes to them do not count."]
    lines += [f"- {each.path} {_DONE[each.offence]}{_what(each)}" for each in findings[:_LISTED]]
    if len(findings) > _LISTED:
        lines.append(f"- and {len(findings) - _LISTED} more")
    lines.append(
        "A path can be opened when the run is started, by a reviewer, or in phaserunner.toml at the base."
    )
    return "\n".join(lines)
