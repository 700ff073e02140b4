"""Evaluates an answer before a user sees it. The model rates four dimensions; code computes the verdict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pydantic_ai.models import Model, infer_model

from app.agents.models.asking import ask
from app.agents.models.material import new_fence
from app.agents.models.question import ModelQuestion, NamedModel
from app.agents.port import AgentUsage, FailureKind
from app.runners.evaluators.models.influence import find_in_text, is_subject_of
from app.runners.evaluators.models.response_prompt import (
    AnswerJudgement,
    instructions,
    merge_rules,
    message,
    objection,
)
from app.runners.evaluators.models.response_verdict import (
    MAX_RETRIES,
    conclude,
    get_all_issues,
    get_failed_dimensions,
    is_passed,
    should_retry,
)
from app.schemas import defaults
from app.schemas.agents import OutputMode
from app.schemas.response_evaluation import (
    EvaluationDimension,
    EvaluationFeedback,
    EvaluatorInput,
    EvaluatorOutput,
    Verdict,
)
from app.schemas.text import storable_json, storable_text

__all__ = [
    "EvaluatorAgent",
    "NoJudgementError",
    "ResponseJudgement",
    "get_all_issues",
    "get_failed_dimensions",
    "is_passed",
    "should_retry",
]

DEFAULT_MODEL = defaults.MODEL


class NoJudgementError(Exception):
    """No model gave a usable judgement. The message says why. This is never a pass."""


@dataclass(frozen=True, slots=True)
class ResponseJudgement:
    """The result of a judgement.

    Attributes:
        output: None if no model gave a usable judgement.
        model: the model that was asked last.
        reasons: why models were unavailable or their replies unusable.
        usage: of all models together.
        kind: why the models were unavailable, if they were.
        retry_at: when the provider's limit ends, if the provider says so.
        exhausted: the resource that was used up, if any.
    """

    output: EvaluatorOutput | None
    model: str
    reasons: tuple[str, ...] = ()
    usage: AgentUsage = field(default_factory=AgentUsage)
    kind: FailureKind | None = None
    retry_at: datetime | None = None
    exhausted: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorAgent:
    """Judges answers in accuracy, relevance, safety and completeness.

    Text in the response or its evidence that addresses a reviewer makes safety insufficient, whatever the
    model says, unless the query is about such text.

    Attributes:
        model: name of a model (`provider:model`), resolved at first use, or the model object.
        fallback_model: asked if `model` is unavailable.
        timeout: seconds for one judgement.
        max_retries: retries after the first attempt; the recommendation depends on it.
        output_mode: how the structure is enforced.
        retry_pause: seconds before the first quick retry of a refused request.
        build: makes a model from its name.
        watch_entries: whether such text counts in the evidence, too, not only in the response.
    """

    model: Model | str = DEFAULT_MODEL
    fallback_model: Model | str | None = None
    timeout: float = 60.0
    max_retries: int = MAX_RETRIES
    output_mode: OutputMode = "auto"
    retry_pause: float = 0.5
    build: Callable[[str], Model] = infer_model
    watch_entries: bool = True

    def build_prompt(self, given: EvaluatorInput) -> str:
        """Return the whole prompt for a model: the four dimensions, the rules, and the material.

        Raises:
            ValueError: the query or the response is blank. The message says which.
        """
        fence = new_fence()
        return f"{_instructions(given, fence)}\n{message(given, fence)}"

    async def evaluate(self, given: EvaluatorInput) -> EvaluatorOutput:
        """Judge an answer.

        Raises:
            ValueError: the query or the response is blank. The message says which.
            NoJudgementError: no model gave a usable judgement.
        """
        judged = await self.judge(given)
        if judged.output is None:
            raise NoJudgementError("; then ".join(judged.reasons))
        return judged.output

    async def judge(self, given: EvaluatorInput) -> ResponseJudgement:
        """Judge an answer. A model outage is reported in the result, not raised.

        Raises:
            ValueError: the query or the response is blank. The message says which.
        """
        fence = new_fence()
        question = ModelQuestion(
            name="response_evaluator",
            instructions=_instructions(given, fence),
            prompt=lambda room: message(given, fence, room),
            structure=AnswerJudgement,
            objection=objection,
            role="evaluator of answers",
            time_setting="EVALUATOR_LLM_TIMEOUT",
        )
        models = [
            NamedModel.of(each, self.build) for each in (self.model, self.fallback_model) if each is not None
        ]
        asked = await ask(
            question, models, seconds=self.timeout, mode=self.output_mode, retry_pause=self.retry_pause
        )
        reasons = tuple(storable_text(each) for each in asked.reasons)
        if asked.answer is None:
            return ResponseJudgement(
                None, asked.model, reasons, asked.usage, asked.kind, asked.retry_at, asked.exhausted
            )
        return ResponseJudgement(self._conclude(given, asked.answer), asked.model, reasons, asked.usage)

    def _conclude(self, given: EvaluatorInput, answer: AnswerJudgement) -> EvaluatorOutput:
        suspicions = _suspicions(given, given.entries_summary if self.watch_entries else "")
        dimensions: list[EvaluationDimension] = []
        for each in answer.dimensions:
            issues = [storable_text(issue) for issue in each.issues if issue.strip()]
            sufficient = each.sufficient
            if each.dimension == "safety" and suspicions:
                sufficient, issues = False, [*suspicions, *issues]
            dimensions.append(
                EvaluationDimension(
                    dimension=each.dimension,
                    verdict=Verdict.SUFFICIENT if sufficient else Verdict.INSUFFICIENT,
                    reasoning=storable_text(each.reasoning),
                    issues=issues,
                )
            )
        lacks_data = any(each.lacks_data for each in answer.dimensions if each.dimension == "accuracy")
        feedback = [
            EvaluationFeedback.model_validate(storable_json(each.model_dump())) for each in answer.feedback
        ]
        return conclude(dimensions, feedback, given.attempt_number, self.max_retries, lacks_data=lacks_data)


def _instructions(given: EvaluatorInput, fence: str) -> str:
    for name in ("query", "response"):
        # This catches input that was copied or constructed without validation.
        if not getattr(given, name).strip():
            raise ValueError(f"{name} must not be empty or blank")
    return instructions(merge_rules((), {}, given.evaluation_rules), fence)


def _suspicions(given: EvaluatorInput, entries: str) -> Sequence[str]:
    if is_subject_of(given.query):
        return ()
    found = [
        *find_in_text("the response", given.response),
        *find_in_text("the entries", entries),
    ]
    return [storable_text(f"Possible attempt to influence the review, in {each}") for each in found]
