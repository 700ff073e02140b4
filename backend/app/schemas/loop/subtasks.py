"""What a director may request before it continues: a subtask, or an evaluation of its work so far."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.loop.contexts import SubtaskContext
from app.schemas.text import CleanText, Name

MAX_DEPTH = 5
"""The most levels of subtasks below the outermost loop."""

MAX_REQUEST_CHARS = 50_000

_Text = Annotated[CleanText, Field(min_length=1, max_length=MAX_REQUEST_CHARS)]


class _Request(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SubtaskRequest(_Request):
    """A task that a separate loop does first.

    Attributes:
        type: `atomic` is one attempt that is judged once; `director_evaluator_loop` may take as many
            iterations as the requesting loop.
        description: the task; `inputs` fill `{{name}}` in it.
        inputs: values by name.
        template_hints: hints on how to do the task.
        context_management: what the subtask sees of its surroundings.
        max_depth: levels of subtasks that may be used from here, including this one; 1 means that the subtask
            may request none. It can only lower the general limit.
    """

    type: Literal["atomic", "director_evaluator_loop"]
    description: _Text
    inputs: dict[Name, Annotated[CleanText, Field(max_length=MAX_REQUEST_CHARS)]] = Field(
        default={}, max_length=40
    )
    template_hints: tuple[Annotated[_Text, Field(max_length=500)], ...] = Field(default=(), max_length=20)
    context_management: SubtaskContext = SubtaskContext()
    max_depth: int | None = Field(default=None, ge=1, le=MAX_DEPTH)


class EvaluationRequest(_Request):
    """An extra evaluation, before the one at the end of the iteration.

    Attributes:
        type: the kind of evaluation, in a word that the evaluator receives.
        criteria: the criteria to judge by.
        target: the name of a source of the loop, such as `director_result` (the text that came with the
            request), or the text itself.
    """

    type: Name
    criteria: _Text
    target: _Text = "director_result"
