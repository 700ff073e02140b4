"""What a sprint needs to start."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from app.schemas.agents import AgentSpec
from app.schemas.api.policies import PolicyOverrides
from app.schemas.api.runs import Name
from app.schemas.held_out import HeldOutInput
from app.schemas.runs import Phase
from app.schemas.text import MAX_GOAL_CHARS, clean_text
from app.schemas.workspaces import WorkspaceSource

DEFAULT_PHASES = (Phase.DISCOVERY, Phase.CODING, Phase.VERIFICATION)

HeldOutField = Annotated[
    HeldOutInput | None,
    Field(
        description="Tests that no agent sees. They are added to an attempt only while it is evaluated. "
        "Without this field, `held_out_share` in `phaserunner.toml` at the base applies, and then "
        "SPRINT_HELD_OUT_SHARE."
    ),
]

Goal = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_GOAL_CHARS)]


class SprintCreate(BaseModel):
    """What a sprint needs to start."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "goal": "Parse durations such as 1h30m; the tests in tests/test_duration.py say how.",
                    "source": {"kind": "local", "path": "/home/me/project"},
                    "policy": {"max_attempts": 3},
                }
            ]
        },
    )

    goal: Goal
    name: Name | None = None
    source: WorkspaceSource
    phases: list[Phase] = Field(default=list(DEFAULT_PHASES), min_length=1)
    agent: AgentSpec = AgentSpec()
    policy: PolicyOverrides = PolicyOverrides()
    held_out: HeldOutField = None

    @field_validator("goal", "name")
    @classmethod
    def _no_control_characters(cls, value: str | None) -> str | None:
        return value if value is None else clean_text(value)

    @field_validator("phases")
    @classmethod
    def _in_order(cls, value: list[Phase]) -> list[Phase]:
        if value != [phase for phase in Phase if phase in value]:
            raise ValueError("phases run in the order discovery, coding, verification, each at most once")
        return value

    @model_validator(mode="after")
    def _held_out_tests_run(self) -> Self:
        require_judged(self.held_out, self.phases)
        return self


def require_judged(held_out: HeldOutInput | None, phases: Sequence[Phase]) -> None:
    """Refuse held-out tests of a sprint that runs no tests.

    Raises:
        ValueError: no phase runs tests.
    """
    if held_out is not None and not held_out.hides_nothing and list(phases) == [Phase.DISCOVERY]:
        raise ValueError("held_out needs the phase coding or verification, in which tests run")
