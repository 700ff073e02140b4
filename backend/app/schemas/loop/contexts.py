"""What a loop, a director or evaluator, or a subtask sees of its surroundings, with the defaults of each."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator


class ContextManagement(BaseModel):
    """The context that a task sees. The defaults are those of a loop.

    Attributes:
        inherit_context: what to include of the surrounding context: nothing, everything, or only its notes.
        accumulate_data: whether to include earlier iterations.
        accumulation_format: what to include of earlier iterations: only the notes, or
            also outputs up to a limit.
        fresh_context: whether to look for files that match the description.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    inherit_context: Literal["none", "full", "subset"] = "none"
    accumulate_data: bool = True
    accumulation_format: Literal["notes_only", "full_output"] = "notes_only"
    fresh_context: Literal["enabled", "disabled"] = "enabled"

    @model_validator(mode="after")
    def _fresh_stands_alone(self) -> "ContextManagement":
        if self.fresh_context == "enabled" and self.inherit_context != "none":
            raise ValueError(
                f"fresh_context `enabled` requires inherit_context `none`; it is `{self.inherit_context}`"
            )
        return self


class RoleContext(ContextManagement):
    """The context of a director or an evaluator, with their defaults."""

    inherit_context: Literal["none", "full", "subset"] = "full"
    accumulate_data: bool = False
    fresh_context: Literal["enabled", "disabled"] = "disabled"


class SubtaskContext(ContextManagement):
    """The context of a subtask, with its defaults."""

    accumulate_data: bool = False
