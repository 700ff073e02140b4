"""The gate of discovery: the plan exists and has substance."""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.runners.evaluators.protocol import (
    FOR_REVIEWERS,
    CriterionResult,
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
)
from app.runners.evaluators.tooling import find_workspace

PLAN_FILE = "implementation_plan.md"

_MAX_BYTES = 1_000_000
MIN_WORDS = 30
MIN_DIFFERENT_WORDS = 15
MIN_STEPS = 2
_HINT = {
    FOR_REVIEWERS: {
        "feedback": "Small models often write no plan. A sprint without discovery: --phases coding"
    }
}
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s.*$", re.MULTILINE)
_WORD = re.compile(r"\w{2,}")
_STEP = re.compile(
    r"^[^\S\n]*+(?:[-*+]|\d+[.)])\s+\S|^\s{0,3}#{1,6}\s+(?:step|phase|task|stage)\b", re.MULTILINE | re.I
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanArtifactEvaluator:
    """Passes if `implementation_plan.md` exists, has 30 words besides its headings, and names steps.

    Fifteen of the words must differ, because a repeated sentence is no plan. The gate does not judge whether
    a plan makes sense.
    """

    name: str = "plan_artifact"
    category: EvaluationCategory = EvaluationCategory.DOCUMENTATION
    version: str = "1"
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Read the plan. `output` and `phase` are not used."""
        workspace = find_workspace(self, context, "look for a plan in")
        if isinstance(workspace, EvaluationResult):
            return workspace
        criteria, metadata = await asyncio.to_thread(_judged, workspace / PLAN_FILE)
        lacks = [each.message for each in criteria if not each.passed]
        return EvaluationResult(
            evaluator_name=self.name,
            category=self.category,
            passed=not lacks,
            score=sum(each.score for each in criteria) / len(criteria),
            feedback=f"{PLAN_FILE} says what is to be done" if not lacks else "; ".join(lacks),
            criteria=criteria,
            suggestions=lacks,
            metadata=metadata,
        )


def _judged(path: Path) -> tuple[list[CriterionResult], dict[str, Any]]:
    """Return the criteria and the metadata of a plan."""
    text, lack = _read_plan(path)
    if text is None:
        return [_criterion("exists", False, lack)], {"words": 0, **_HINT}
    return _criteria(text), {"words": len(_words(text))}


def _read_plan(path: Path) -> tuple[str | None, str]:
    if path.is_symlink() or not path.is_file():
        return (
            None,
            f"{PLAN_FILE} is missing: write the plan into a file of this name at the workspace's root",
        )
    if path.stat().st_size > _MAX_BYTES:
        return None, f"{PLAN_FILE} is larger than a plan can be ({_MAX_BYTES} bytes); keep to the essentials"
    try:
        return path.read_text(encoding="utf-8"), ""
    except UnicodeDecodeError:
        return None, f"{PLAN_FILE} is not text: write it as Markdown in UTF-8"


def _criteria(text: str) -> list[CriterionResult]:
    words, steps = _words(text), len(_STEP.findall(text))
    different = len(set(words))
    return [
        _criterion("exists", True, ""),
        _criterion(
            "says something",
            len(words) >= MIN_WORDS,
            f"{PLAN_FILE} has {len(words)} words besides its headings, and {MIN_WORDS} are needed; "
            "explain what will be done and how",
        ),
        _criterion(
            "does not repeat itself",
            len(words) < MIN_WORDS or different >= MIN_DIFFERENT_WORDS,
            f"{PLAN_FILE} repeats {different} words again and again, and {MIN_DIFFERENT_WORDS} must differ; "
            "say what will be done in each step",
        ),
        _criterion(
            "names steps",
            steps >= MIN_STEPS,
            f"{PLAN_FILE} names {steps or 'no'} steps, and {MIN_STEPS} are needed; "
            "list them, one line each, with the files they touch",
        ),
    ]


def _criterion(name: str, passed: bool, lack: str) -> CriterionResult:
    return CriterionResult(
        criterion=name, passed=passed, score=1.0 if passed else 0.0, message="" if passed else lack
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(_HEADING.sub("", text).lower())
