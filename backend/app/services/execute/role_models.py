"""Which models write and judge for loops and answers, and how they are asked."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic_ai.models import Model

from app.schemas.agents import OutputMode


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleModels:
    """The models where a run names none.

    Attributes:
        author: name of the model that writes: a loop's director, an answer's synthesizer.
        evaluator: name of the model that judges.
        fallback: asked when either is out.
        build: makes a model from its name; says what to set when it cannot.
        timeout: seconds for one task of any other role.
        judge_timeout: seconds for one judgement of an answer; a loop's evaluator may look into files first.
        output_mode: how their answers get their structure.
    """

    author: str
    evaluator: str
    fallback: str | None
    build: Callable[[str], Model]
    timeout: float = 300.0
    judge_timeout: float = 300.0
    output_mode: OutputMode = "auto"
