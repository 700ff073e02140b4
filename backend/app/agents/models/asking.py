"""Asks a model for a structured answer, and another model if the first one is unavailable."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Generic, Literal

from pydantic import ValidationError
from pydantic_ai import Agent, ModelRetry, NativeOutput, PromptedOutput, RunContext, ToolOutput
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    OutputTokenLimitExceeded,
    RunTimedOut,
    UnexpectedModelBehavior,
    UsageLimitExceeded,
    UserError,
)
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.usage import RunUsage, UsageLimits

from app.agents.models.failures import QuickRetry, is_context_overflow, read_failure, reset_of
from app.agents.models.providers import ModelConfigurationError
from app.agents.models.question import MAX_ANSWERS, AnswerT, ModelQuestion, NamedModel, QuestionOutcome
from app.agents.models.usage import agent_usage
from app.agents.port import AgentUsage, FailureKind
from app.schemas.agents import OutputMode
from app.schemas.runs import Usage

FIRST_SHARE = 0.6
"""The share of the remaining time for a model that has another one after it."""

SMALLER_ROOM = 0.4
"""The share of the material that is shown if the whole does not fit into the model's context."""

_UNFINISHED: dict[str, str] = {
    "length": "it was cut off at the output limit; be briefer",
    "content_filter": "a filter of the provider stopped it; answer in your own words and quote little",
    "error": "it broke off",
}

# The library asks again after all other unusable answers.
_NOT_ASKED_AGAIN = (ContentFilterError, OutputTokenLimitExceeded)


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why a model gave no answer. Only if it is unavailable (`out`) is the next model asked."""

    reason: str
    out: bool
    exhausted: Literal["turns", "output", "time"] | None = None
    kind: FailureKind | None = None
    retry_at: datetime | None = None


async def ask(
    question: ModelQuestion[AnswerT],
    models: Sequence[NamedModel],
    *,
    seconds: float,
    mode: OutputMode = "auto",
    retry_pause: float = 0.5,
) -> QuestionOutcome[AnswerT]:
    """Ask the models in order until one answers.

    The next model is asked if one is unavailable: no connection, no time, a rate limit or a server error that
    outlasts the quick retries, a rejected key, an unknown name. A model with an unusable answer is asked once
    more with the reason. After a second one the question stays unanswered, because another model does not
    cure a question or material that leads to wrong answers.

    Args:
        question: the question.
        models: at least one.
        seconds: time limit for everything, wall clock.
        mode: how the structure is enforced.
        retry_pause: seconds before the first quick retry of a refused request.
    """
    deadline = asyncio.get_running_loop().time() + seconds
    troubles: list[_Trouble] = []
    spent: list[AgentUsage] = []
    for position, named in enumerate(models):
        left = max(deadline - asyncio.get_running_loop().time(), 0.001)
        if position < len(models) - 1:
            left *= FIRST_SHARE
        usage = RunUsage()
        came = await _One(question, named, mode, retry_pause, usage).ask(left)
        spent.append(agent_usage(usage))
        first = models[0].name if position else None
        if not isinstance(came, _Trouble):
            reasons = tuple(each.reason for each in troubles)
            return QuestionOutcome(came, named.name, first, reasons, _total(spent))
        troubles.append(came)
        if not came.out or position == len(models) - 1:
            return _unanswered(named.name, first, troubles, _total(spent))
    raise ValueError("there is no model to ask")


def _unanswered(
    name: str, fallback_from: str | None, troubles: Sequence[_Trouble], usage: AgentUsage
) -> QuestionOutcome[Any]:
    last = troubles[-1]
    passing = [
        each
        for kind in (FailureKind.BUDGET, FailureKind.UNAVAILABLE)
        for each in troubles
        if each.kind is kind
    ]
    decisive = passing[0] if last.out and passing else last
    return QuestionOutcome(
        None,
        name,
        fallback_from,
        tuple(each.reason for each in troubles),
        usage,
        last.out,
        last.exhausted,
        decisive.kind,
        decisive.retry_at,
    )


@dataclass(frozen=True, slots=True)
class _One(Generic[AnswerT]):
    """Asks one model. Its consumption is added to `usage`, whatever the outcome."""

    question: ModelQuestion[AnswerT]
    named: NamedModel
    mode: OutputMode
    retry_pause: float
    usage: RunUsage

    async def ask(self, seconds: float) -> AnswerT | _Trouble:
        try:
            model = self.named.build()
        except (ModelConfigurationError, UserError) as error:
            return self._out(str(error))
        deadline = asyncio.get_running_loop().time() + seconds
        room, note = 1.0, ""
        while True:
            left = max(deadline - asyncio.get_running_loop().time(), 0.001)
            try:
                async with model:
                    return await self._run(model, self.question.prompt(room) + note, left)
            except (AgentRunError, UserError) as error:
                if is_context_overflow(error) and room == 1.0:
                    room = SMALLER_ROOM
                elif isinstance(error, _NOT_ASKED_AGAIN) and self.usage.requests < MAX_ANSWERS:
                    note = f"\n\nAn earlier answer could not be used: {_what_was_wrong(error)}."
                else:
                    return self._trouble(error)

    def _trouble(self, error: AgentRunError | UserError) -> _Trouble:
        if isinstance(error, UnexpectedModelBehavior | UsageLimitExceeded):
            reason = f"{self.named.name}: its answer cannot be used: {_what_was_wrong(error)}"
            return _Trouble(reason, out=False, exhausted=self._exhausted(error))
        kind, reason = read_failure(error)
        late = isinstance(error, RunTimedOut)
        about = ", ".join(each for each in (self.question.role, self.question.time_setting) if each)
        if late and about:
            reason += f" ({about})"
        at = reset_of(error, datetime.now(UTC))
        return replace(self._out(reason), kind=kind, retry_at=at, exhausted="time" if late else None)

    def _exhausted(
        self, error: UnexpectedModelBehavior | UsageLimitExceeded
    ) -> Literal["turns", "output"] | None:
        if _what_was_wrong(error) == _UNFINISHED["length"]:
            return "output"
        # Without tools, every further request was for an unusable answer.
        return "turns" if isinstance(error, UsageLimitExceeded) and self.question.tools else None

    def _out(self, reason: str) -> _Trouble:
        named = self.named.name
        told = named in reason or reason.startswith(f"{named.partition(':')[2] or named}:")
        return _Trouble(reason if told else f"{named}: {reason}", out=True)

    async def _run(self, model: Model, prompt: str, seconds: float) -> AnswerT:
        agent: Agent[None, AnswerT] = Agent(
            model,
            deps_type=type(None),
            output_type=_structure(self.question.structure, self.mode),
            instructions=self.question.instructions,
            name=self.question.name,
            retries=MAX_ANSWERS - 1,
            capabilities=[QuickRetry(self.retry_pause)],
            tools=list(self.question.tools),
        )

        @agent.output_validator
        def usable(context: RunContext[None], answer: AnswerT) -> AnswerT:  # pyright: ignore[reportUnusedFunction]
            objection = _unfinished(context.messages) or self.question.objection(answer)
            if objection:
                raise ModelRetry(objection)
            return answer

        limits = UsageLimits(request_limit=self.question.requests)
        result = await agent.run(prompt, usage=self.usage, usage_limits=limits, timeout=seconds)
        return result.output


def _structure(structure: type[AnswerT], mode: OutputMode) -> Any:
    if mode == "auto":
        return structure
    outputs: dict[OutputMode, Any] = {"tool": ToolOutput, "native": NativeOutput, "prompted": PromptedOutput}
    return outputs[mode](structure, name=structure.__name__.lower())


def _unfinished(messages: Sequence[ModelMessage]) -> str | None:
    answers = [each for each in messages if isinstance(each, ModelResponse)]
    reason = answers[-1].finish_reason if answers else None
    return _UNFINISHED.get(reason or "")


def _what_was_wrong(error: UnexpectedModelBehavior | UsageLimitExceeded) -> str:
    """Say what was wrong with the last answer, without quoting it."""
    cause = error.__cause__
    if isinstance(error, _NOT_ASKED_AGAIN):
        return _UNFINISHED["content_filter" if isinstance(error, ContentFilterError) else "length"]
    if isinstance(cause, ValidationError):
        faults = cause.errors(include_input=False, include_url=False, include_context=False)[:5]
        return "; ".join(f"{'.'.join(map(str, each['loc'])) or 'answer'}: {each['msg']}" for each in faults)
    if isinstance(cause, ModelRetry):
        return str(cause)
    if isinstance(error, UsageLimitExceeded):
        return "it made more requests than it may"
    return f"none of {MAX_ANSWERS} answers had the structure that was asked for"


def _total(parts: Sequence[AgentUsage]) -> AgentUsage:
    total = Usage.total(Usage.model_validate(asdict(each)) for each in parts)
    return AgentUsage(**total.model_dump())
