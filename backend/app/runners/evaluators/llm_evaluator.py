"""The evaluators that ask a model. The model argues and scores criteria; the verdict is computed here."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field
from pydantic_ai import Agent, AgentRunResult, ModelRetry, NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.models import Model

from app.runners.evaluators.llm_prompts import (
    CODE_QUALITY,
    COMPLETENESS,
    PERFORMANCE,
    SECURITY,
    Focus,
    instructions,
    material,
    new_fence,
)
from app.runners.evaluators.plan_artifact import PLAN_FILE
from app.runners.evaluators.protocol import (
    BLOCKING_THRESHOLD,
    CriterionResult,
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    errored,
)
from app.runners.evaluators.tooling import ToolTroubleError, find_base, seconds_for
from app.runners.evaluators.workspace_digest import Digest, digest, read_text

OutputMode = Literal["tool", "native", "prompted"]
"""How a model is made to answer in a structure. `tool` works with every hosted model; `native` (constrained
decoding) suits local servers whose tool calls fail, and is refused by some hosted ones."""

DEFAULT_MODEL = "anthropic:claude-sonnet-4-20250514"

_RETRIES = 1
_MESSAGE_CHARS = 8000
_PLAN_CHARS = 20_000
_MAX_SUGGESTIONS = 8
_CUT_SHORT = frozenset({"length", "content_filter", "error"})


class CriterionAssessment(BaseModel):
    """One criterion; the reasoning comes before the score."""

    criterion: str
    reasoning: str = Field(min_length=1)
    score: float = Field(ge=0.0, le=1.0)


class Assessment(BaseModel):
    """What the model answers."""

    criteria: list[CriterionAssessment]
    overall_assessment: str = Field(min_length=1)
    suggestions: list[str] = []
    blocking_issues: list[str] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEvaluator:
    """Has a model score the criteria of its focus.

    The score is the mean of the criteria; it passes from `pass_threshold` on, unless the model names a
    blocking issue or a criterion is below `blocking_threshold`. An answer without the right structure is
    asked for once more. No key, no connection, no time, or no usable answer: no verdict (`errored`).

    Attributes:
        name: of the evaluator.
        category: what it speaks about.
        focus: what the model is asked.
        model: name of a model (`provider:model`), resolved when it is first needed, or the model itself.
        timeout: seconds for the whole evaluation.
        output_mode: how the structure is enforced.
    """

    name: str
    category: EvaluationCategory
    focus: Focus
    model: Model | str = DEFAULT_MODEL
    timeout: float = 60.0
    pass_threshold: float = 0.7
    blocking_threshold: float = BLOCKING_THRESHOLD
    output_mode: OutputMode = "tool"
    version: str = "1"
    is_deterministic: bool = False

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Show the model the goal, the plan, the agent's message and the changes, and compute the verdict."""
        try:
            shown = await asyncio.to_thread(_digest, context)
            fence = new_fence()
            prompt = material(_sections(phase, output, context, shown), fence)
            result = await self._agent(fence).run(prompt, timeout=seconds_for(context, self.timeout))
        except ToolTroubleError as trouble:
            return errored(self, str(trouble))
        except UserError as error:
            return errored(self, f"The model cannot be used: {error}", model=self._model_name)
        except AgentRunError as error:
            return errored(self, f"The model gave no verdict: {error}", model=self._model_name)
        reason = result.response.finish_reason
        if reason in _CUT_SHORT:
            return errored(self, f"The model's answer was cut short ({reason})", model=self._model_name)
        return self._result(result.output, _usage(result), shown)

    @property
    def _model_name(self) -> str:
        return self.model if isinstance(self.model, str) else self.model.model_name

    def _agent(self, fence: str) -> Agent[object, Assessment]:
        agent = Agent(
            self.model,
            output_type=_structure(self.output_mode),
            instructions=instructions(self.focus, fence, self.pass_threshold),
            name=self.name,
            retries=_RETRIES,
        )

        @agent.output_validator
        def every_criterion_once(answer: Assessment) -> Assessment:  # pyright: ignore[reportUnusedFunction]
            named = sorted(each.criterion.strip().casefold() for each in answer.criteria)
            if named != sorted(self.focus.criteria):
                raise ModelRetry(
                    f"Score each of these criteria exactly once: {', '.join(self.focus.criteria)}"
                )
            return answer

        return agent

    def _result(self, answer: Assessment, usage: dict[str, Any], shown: Digest) -> EvaluationResult:
        criteria = [
            CriterionResult(
                criterion=each.criterion,
                passed=each.score >= self.pass_threshold,
                score=each.score,
                message=each.reasoning,
            )
            for each in answer.criteria
        ]
        score = sum(each.score for each in criteria) / len(criteria)
        blocking = [issue for issue in answer.blocking_issues if issue.strip()]
        criteria += [
            CriterionResult(criterion="blocking issue", passed=False, score=0.0, message=issue)
            for issue in blocking
        ]
        blocked = any(not each.passed and each.score < self.blocking_threshold for each in criteria)
        return EvaluationResult(
            evaluator_name=self.name,
            category=self.category,
            passed=score >= self.pass_threshold and not blocked,
            score=score,
            feedback=answer.overall_assessment,
            criteria=criteria,
            suggestions=[*blocking, *answer.suggestions][:_MAX_SUGGESTIONS],
            metadata={
                "model": self._model_name,
                "usage": usage,
                "not_shown": list(shown.cut[:50]),
            },
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMCodeQualityEvaluator(ModelEvaluator):
    """Correctness, clarity, completeness and best practices."""

    name: str = "llm_code_quality"
    category: EvaluationCategory = EvaluationCategory.MAINTAINABILITY
    focus: Focus = CODE_QUALITY


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletenessEvaluator(ModelEvaluator):
    """Whether every requirement of the goal is addressed."""

    name: str = "completeness"
    category: EvaluationCategory = EvaluationCategory.COMPLETENESS
    focus: Focus = COMPLETENESS


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityEvaluator(ModelEvaluator):
    """Faults of the OWASP classes that the change brings in."""

    name: str = "security"
    category: EvaluationCategory = EvaluationCategory.SECURITY
    focus: Focus = SECURITY


@dataclass(frozen=True, slots=True, kw_only=True)
class PerformanceEvaluator(ModelEvaluator):
    """Whether the change is efficient enough."""

    name: str = "performance"
    category: EvaluationCategory = EvaluationCategory.PERFORMANCE
    focus: Focus = PERFORMANCE


def _structure(
    mode: OutputMode,
) -> ToolOutput[Assessment] | NativeOutput[Assessment] | PromptedOutput[Assessment]:
    if mode == "native":
        return NativeOutput(Assessment, name="assessment")
    if mode == "prompted":
        return PromptedOutput(Assessment, name="assessment")
    return ToolOutput(Assessment, name="assessment")


def _digest(context: EvaluationContext) -> Digest:
    named = context.get("workspace_ref")
    if not named:
        return Digest("", ())
    workspace = Path(named)
    if not workspace.is_dir():
        raise ToolTroubleError(f"Workspace not found: {named}")
    return digest(workspace, find_base(context), without=(PLAN_FILE,))


def _sections(phase: str, output: str, context: EvaluationContext, shown: Digest) -> list[tuple[str, str]]:
    named = context.get("workspace_ref")
    plan = read_text(Path(named) / PLAN_FILE) if named else None
    changes = "changes against the base" if context.get("base_ref") else "files"
    return [
        ("phase", phase),
        ("goal", context.get("goal", "")),
        ("plan", (plan or "")[:_PLAN_CHARS]),
        (
            "feedback on the previous attempt",
            "\n".join(context.get("previous_feedback", []))[:_MESSAGE_CHARS],
        ),
        ("the agent's final message", output[-_MESSAGE_CHARS:]),
        (changes, shown.text),
        ("not shown because of size or format", "\n".join(shown.cut[:100])),
    ]


def _usage(result: AgentRunResult[Assessment]) -> dict[str, Any]:
    """Give what the evaluation consumed; a cost that nobody knows is None, not zero."""
    usage = result.usage
    return {
        "requests": usage.requests,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": None if usage.cost is None else float(usage.cost),
    }
