"""Evaluates a plan as an answer to the goal, with the repository as evidence."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from app.runners.evaluators.models.digest import TOTAL_CHARS, digest, read_text
from app.runners.evaluators.models.outage import failure_note
from app.runners.evaluators.plan_artifact import PLAN_FILE
from app.runners.evaluators.protocol import (
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    errored,
    skipped,
)
from app.runners.evaluators.response_evaluator import EvaluatorAgent
from app.runners.evaluators.response_result import VERSION, quality_result
from app.runners.evaluators.tooling import find_workspace
from app.schemas.response_evaluation import EvaluationFeedback, EvaluatorInput

RULES = ("Files and names that the plan relies on are in the entries, or the plan says that they are new.",)
EVIDENCE_CHARS = min(50_000, TOTAL_CHARS)
MORE_FILES = "There are more files than can be named here."
NO_FILES = "The repository holds no files."


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseQualityEvaluator:
    """Judges the plan in accuracy, relevance, safety and completeness. Code computes the verdict.

    The score is the share of sufficient dimensions; all four must be sufficient. Without a usable judgement
    there is no verdict (`errored`). Only text to reviewers in the plan counts; such text in the repository is
    not the plan's fault.
    """

    agent: EvaluatorAgent = field(default_factory=lambda: EvaluatorAgent(watch_entries=False))
    name: str = "response_quality"
    category: EvaluationCategory = EvaluationCategory.CORRECTNESS
    turns: asyncio.Semaphore | None = None
    version: str = VERSION
    is_deterministic: bool = False

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Judge the plan, with the repository as evidence."""
        workspace = find_workspace(self, context, "judge a plan in")
        if isinstance(workspace, EvaluationResult):
            return workspace
        plan, evidence = await asyncio.to_thread(_look, workspace)
        goal = context.get("goal", "")
        if not plan.strip() or not goal.strip():
            return skipped(self, f"No {'plan' if goal.strip() else 'goal'} to judge by", version=self.version)
        said = [each for each in context.get("previous_feedback", []) if each.strip()]
        given = EvaluatorInput(
            query=goal,
            response=plan,
            entries_summary=evidence,
            evaluation_rules=list(RULES),
            attempt_number=max(1, context.get("attempt", 1)),
            previous_feedback=[EvaluationFeedback(issue=each, suggestion="Fix it") for each in said],
        )
        judged = await self.agent.judge(given)
        if judged.output is None:
            reasons, note = "; then ".join(judged.reasons), failure_note(judged)
            return errored(self, f"No verdict: {reasons}", version=self.version, model=judged.model, **note)
        return quality_result(self.name, judged, judged.output, what="plan", asked="goal")


def _look(workspace: Path) -> tuple[str, str]:
    found = digest(workspace, None, without=(PLAN_FILE,))
    files = found.shown(EVIDENCE_CHARS)
    names = "\n".join(files.cut[:200])
    notes = [names and f"Not shown in full:\n{names}", "" if found.complete else MORE_FILES]
    shown = "\n\n".join(each for each in (files.text, *notes) if each)
    return read_text(workspace / PLAN_FILE) or "", shown or NO_FILES
