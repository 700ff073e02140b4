"""The models that write and judge for loops and answers, and how they are asked."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic_ai.models import Model

from app.schemas.agents import OutputMode


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleModels:
    """The models for runs that name none.

    Attributes:
        author: name of the model that writes: a loop's director or an answer's synthesizer.
        evaluator: name of the model that judges.
        fallback: name of the model that is asked when one of the two is unavailable.
        build: makes a model from its name; if it cannot, its error says what to set.
        timeout: seconds for one task of any other role.
        judge_timeout: seconds for one judgement of an answer, or of a loop's output, for which the evaluator
            may read files first.
        output_mode: how the models return structured output.
    """

    author: str
    evaluator: str
    fallback: str | None
    build: Callable[[str], Model]
    timeout: float = 300.0
    judge_timeout: float = 300.0
    output_mode: OutputMode = "auto"
