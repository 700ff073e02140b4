"""A question to models, the models to ask, and the result."""

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
"""Maximum answers of one model. After an unusable one, it is asked again with the reason."""


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model that may not be made yet.

    Attributes:
        name: `provider:model`, for people.
        build: makes it. Raises `UserError` or `ModelConfigurationError`.
    """

    name: str
    build: Callable[[], Model]

    @classmethod
    def of(cls, model: Model | str, build: Callable[[str], Model] = infer_model) -> "NamedModel":
        """Wrap a model, or the name of one.

        Without `build`, the name must be one that pydantic-ai knows, with its key in the environment.
        """
        if isinstance(model, Model):
            return cls(model.model_id, lambda: model)
        return cls(model, lambda: build(model))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuestion(Generic[AnswerT]):
    """A question to a model.

    Attributes:
        name: name of the asker, for traces.
        instructions: the system prompt.
        prompt: returns the message. Its argument in (0, 1] is the share of the usual room for material.
        structure: the type of the answer.
        objection: returns what is wrong with an answer of that type; None accepts it.
        tools: tools that the model may use before it answers.
        requests: limit for one model, on answers and uses of tools together.
        role: the asker's role and name, for messages, such as `evaluator llm_code_quality`.
        time_setting: the setting with the time limit, for messages.
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
class QuestionOutcome(Generic[AnswerT]):
    """The result of a question.

    Attributes:
        answer: None if no model gave a usable one.
        model: the model that answered; without an answer, the last one that was asked.
        fallback_from: the first model, if it was unavailable and another one was asked.
        reasons: why models were unavailable or their answers unusable, one reason for each such model.
        usage: of all models together; an unknown cost is None.
        out: True if there is no answer because the last model was unavailable, not because its answer was
            unusable.
        kind: kind of the failure. If models were unavailable, a kind that can pass by itself takes precedence
            over
            one that cannot.
        retry_at: when the provider's limit ends, if the provider says so.
        exhausted: the resource that was used up instead, if any: requests with tools, the length of an
            answer, or
            the time.
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
