"""What a model is asked, which models can be asked, and what came of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel
from pydantic_ai import Tool
from pydantic_ai.models import Model, infer_model

from app.agents.port import AgentUsage, FailureKind

AnswerT = TypeVar("AnswerT", bound=BaseModel)

MAX_ANSWERS = 2
"""Of one model: one answer that cannot be used is asked for again, with the reason."""


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model that may still have to be made.

    Attributes:
        name: `provider:model`, for people.
        build: makes it. Raises `UserError` or `ModelConfigurationError`.
    """

    name: str
    build: Callable[[], Model]

    @classmethod
    def of(cls, model: Model | str, build: Callable[[str], Model] = infer_model) -> "NamedModel":
        """Take a model, or the name of one.

        Without `build` it is one that pydantic-ai knows and whose key is in the environment.
        """
        if isinstance(model, Model):
            return cls(model.model_id, lambda: model)
        return cls(model, lambda: build(model))


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[AnswerT]):
    """What is asked.

    Attributes:
        name: of the asker, for traces.
        instructions: the system prompt.
        prompt: gives the message; its argument in (0, 1] is the share of the usual room for material.
        structure: what the answer must be.
        objection: says what is wrong with an answer that has the structure; None accepts it.
        tools: what the model may use before it answers.
        requests: to one model, answers and uses of tools together.
        role: of the asker and its name, for messages, such as `evaluator llm_code_quality`.
        time_setting: the setting that bounds the time, for messages.
    """

    name: str
    instructions: str
    prompt: Callable[[float], str]
    structure: type[AnswerT]
    objection: Callable[[AnswerT], str | None] = lambda _: None
    tools: Sequence[Tool[object]] = ()
    requests: int = MAX_ANSWERS
    role: str = ""
    time_setting: str = ""


@dataclass(frozen=True, slots=True)
class Asked(Generic[AnswerT]):
    """What came of a question.

    Attributes:
        answer: None when no model gave one that can be used.
        model: which model answered; without an answer, the last one that was asked.
        fallback_from: the model that was to answer and was out.
        reasons: why models were out or their answers no use, one for each such model.
        usage: of all models together; an unknown cost is None.
        out: there is no answer because the last model was out, not because its answer was no use.
        kind: of the failure, if the last word is that models were out: one that can pass by itself counts
            before one that cannot.
        retry_at: when the provider's limit ends, if the provider says so.
        exhausted: which resource was used up instead, if it was one: requests with tools, the length of an
            answer, or the time.
    """

    answer: AnswerT | None
    model: str
    fallback_from: str | None = None
    reasons: tuple[str, ...] = ()
    usage: AgentUsage = field(default_factory=AgentUsage)
    out: bool = False
    exhausted: Literal["turns", "output", "time"] | None = None
    kind: FailureKind | None = None
    retry_at: datetime | None = None
