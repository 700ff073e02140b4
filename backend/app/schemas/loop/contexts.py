"""What of its surroundings a loop, a director or evaluator, or a subtask sees; the defaults of each."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator


class ContextManagement(BaseModel):
    """Which context a task sees. The defaults are those of a loop.

    Attributes:
        inherit_context: of the context around the task: nothing, all, or only its notes.
        accumulate_data: whether earlier iterations are seen.
        accumulation_format: of earlier iterations, the notes alone or the outputs too, within a limit.
        fresh_context: whether files that fit the description are looked for.
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
    """Context of a director or an evaluator, with their defaults."""

    inherit_context: Literal["none", "full", "subset"] = "full"
    accumulate_data: bool = False
    fresh_context: Literal["enabled", "disabled"] = "disabled"


class SubtaskContext(ContextManagement):
    """Context of a subtask, with its defaults."""

    accumulate_data: bool = False
