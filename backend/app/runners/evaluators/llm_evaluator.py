"""Evaluators that ask a model. The model scores criteria with reasons; code computes the verdict."""

import asyncio
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic_ai.models import Model

from app.agents.models.asking import ask
from app.agents.models.material import new_fence
from app.agents.models.question import ModelQuestion, NamedModel, QuestionOutcome
from app.runners.evaluators.models.answer import Assessment, ComputedVerdict, Standard, compute, objection
from app.runners.evaluators.models.digest import MAX_PARTS, TOTAL_CHARS, Digest, digest, read_text
from app.runners.evaluators.models.influence import MAX_FOUND, Influence, find_in_text, is_subject_of
from app.runners.evaluators.models.outage import failure_note
from app.runners.evaluators.models.prompts import (
    CODE_QUALITY,
    COMPLETENESS,
    PERFORMANCE,
    SECURITY,
    Focus,
    JudgedWork,
    instructions,
    message,
    results_text,
)
from app.runners.evaluators.plan_artifact import PLAN_FILE
from app.runners.evaluators.protocol import (
    BLOCKING_THRESHOLD,
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    EvaluationStatus,
    errored,
)
from app.runners.evaluators.tooling import ToolTroubleError, find_base, seconds_for
from app.schemas import defaults
from app.schemas.agents import OutputMode
from app.schemas.text import storable_text

DEFAULT_MODEL = defaults.MODEL

_FEEDBACK_CHARS = 8000
_NAMED_FILES = 50


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was read of the work: its changes, its plan, and text that seems to address the reviewer."""

    changes: Digest
    plan: str = ""
    influence: tuple[Influence, ...] = ()
    is_subject: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEvaluator:
    """Lets a model score the criteria of its focus.

    The score is the mean of the criteria that apply. It passes from `pass_threshold` on, unless the model
    names a blocking issue, a criterion is below `blocking_threshold`, or the work holds text that seems to
    address its reviewer. If no criterion applies, there was nothing to check (`skipped`). An unusable answer
    is requested once more. Without a key, a connection, enough time or a usable answer there is no verdict
    (`errored`).

    Attributes:
        name: the evaluator's name.
        category: the aspect that it judges.
        focus: the questions for the model.
        model: name of a model (`provider:model`), resolved at first use, or the model object.
        fallback_model: asked if `model` is unavailable, but not if its answer is unusable.
        timeout: seconds for the whole evaluation.
        output_mode: how the structure is enforced.
        retry_pause: seconds before the first quick retry of a refused request.
        turns: limits how many evaluators ask models at once; waiting for a turn does not count as time.
    """

    name: str
    category: EvaluationCategory
    focus: Focus
    model: Model | str = DEFAULT_MODEL
    fallback_model: Model | str | None = None
    timeout: float = 60.0
    pass_threshold: float = defaults.PASS_THRESHOLD
    blocking_threshold: float = BLOCKING_THRESHOLD
    output_mode: OutputMode = "auto"
    retry_pause: float = 0.5
    turns: asyncio.Semaphore | None = None
    version: str = "2"
    is_deterministic: bool = False

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Show the model the goal, the plan, the agent's message, the tools' results and the changes."""
        try:
            seen = await asyncio.to_thread(_look, output, context)
        except ToolTroubleError as trouble:
            return errored(self, str(trouble))
        fence = new_fence()

        def prompt(room: float) -> str:
            shown = seen.changes.shown(int(TOTAL_CHARS * room))
            work = JudgedWork(phase, output, seen.plan, shown.text, shown.cut)
            return message(self.focus, fence, work, context, room)

        question = ModelQuestion(
            name=self.name,
            instructions=instructions(self.focus, fence, self.pass_threshold),
            prompt=prompt,
            structure=Assessment,
            objection=lambda answer: objection(self.focus, answer),
            role=f"evaluator {self.name}",
            time_setting="EVALUATOR_LLM_TIMEOUT",
        )
        models = [NamedModel.of(each) for each in (self.model, self.fallback_model) if each is not None]
        asked = await ask(
            question,
            models,
            seconds=seconds_for(context, self.timeout),
            mode=self.output_mode,
            retry_pause=self.retry_pause,
        )
        if asked.answer is None:
            reasons = "; then ".join(asked.reasons)
            metadata = _metadata(asked) | failure_note(asked)
            return errored(self, storable_text(f"No verdict: {reasons}"), **metadata)
        return self._result(asked.answer, _metadata(asked), seen)

    def _result(self, answer: Assessment, metadata: dict[str, Any], seen: _Seen) -> EvaluationResult:
        standard = Standard(self.pass_threshold, self.blocking_threshold)
        verdict = compute(self.focus, answer, standard, seen.influence, is_subject=seen.is_subject)
        cut = seen.changes.shown().cut
        if cut:
            metadata |= {"not_shown": list(cut[:_NAMED_FILES]), "not_shown_count": len(cut)}
        if verdict.not_applicable:
            metadata |= {"not_applicable": verdict.not_applicable}
        feedback = storable_text(answer.overall_assessment)[:_FEEDBACK_CHARS]
        return EvaluationResult(
            evaluator_name=self.name,
            category=self.category,
            passed=verdict.passed,
            score=1.0 if verdict.score is None else verdict.score,
            feedback=f"{feedback}\n{_shown_in_part(len(cut))}" if cut else feedback,
            criteria=verdict.criteria,
            suggestions=verdict.suggestions,
            metadata=metadata,
            status=_status(verdict),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMCodeQualityEvaluator(ModelEvaluator):
    """Judges correctness, clarity, completeness and best practices."""

    name: str = "llm_code_quality"
    category: EvaluationCategory = EvaluationCategory.MAINTAINABILITY
    focus: Focus = CODE_QUALITY


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletenessEvaluator(ModelEvaluator):
    """Judges whether every requirement of the goal is addressed."""

    name: str = "completeness"
    category: EvaluationCategory = EvaluationCategory.COMPLETENESS
    focus: Focus = COMPLETENESS


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityEvaluator(ModelEvaluator):
    """Judges the faults of the OWASP classes that the change introduces.

    Classes that it does not touch do not count.
    """

    name: str = "security"
    category: EvaluationCategory = EvaluationCategory.SECURITY
    focus: Focus = SECURITY


@dataclass(frozen=True, slots=True, kw_only=True)
class PerformanceEvaluator(ModelEvaluator):
    """Judges whether the change is efficient enough."""

    name: str = "performance"
    category: EvaluationCategory = EvaluationCategory.PERFORMANCE
    focus: Focus = PERFORMANCE


def _look(output: str, context: EvaluationContext) -> _Seen:
    """Read the work, and search everything that the agent could write for text to the reviewer."""
    named = context.get("workspace_ref")
    changes, plan, old_plan = Digest({}), "", ""
    if named:
        workspace, base = Path(named), find_base(context)
        if not workspace.is_dir():
            raise ToolTroubleError(f"Workspace not found: {named}")
        changes = digest(workspace, base, without=(PLAN_FILE,))
        if not changes.complete:
            raise ToolTroubleError(
                f"The change is too large for a model to judge: over {MAX_PARTS} files, or too large ones"
            )
        plan = read_text(workspace / PLAN_FILE) or ""
        old_plan = (read_text(base / PLAN_FILE) if base else None) or ""
    found = [
        *changes.influence,
        *find_in_text("the agent's final message", output),
        *(find_in_text("the plan", plan) if plan != old_plan else []),
        *find_in_text("the results of the tools", results_text(context.get("deterministic_results", []))),
    ]
    is_subject = changes.subject or is_subject_of(context.get("goal", ""))
    return _Seen(changes, plan, tuple(found[:MAX_FOUND]), is_subject)


def _status(verdict: ComputedVerdict) -> EvaluationStatus:
    if not verdict.passed:
        return EvaluationStatus.FAILED
    return EvaluationStatus.SKIPPED if verdict.score is None else EvaluationStatus.PASSED


def _shown_in_part(count: int) -> str:
    files = "1 file" if count == 1 else f"{count} files"
    return f"Not shown to the model in full because of size or format: {files}."


def _metadata(asked: QuestionOutcome[Assessment]) -> dict[str, Any]:
    """Return the model that answered and the usage of all models. An unknown cost is None, not zero."""
    metadata: dict[str, Any] = {"model": asked.model, "usage": asdict(asked.usage)}
    if asked.fallback_from:
        metadata |= {"fallback_from": asked.fallback_from, "fallback_reason": storable_text(asked.reasons[0])}
    return metadata
