"""Requests for sprints for issues, and responses to deliveries of forges."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.schemas.agents import AgentSpec
from app.schemas.api.policies import PolicyOverrides
from app.schemas.api.runs import Name
from app.schemas.api.sprints import DEFAULT_PHASES, HeldOutField, require_judged
from app.schemas.runs import Phase
from app.schemas.text import CleanLine


class IssueSprintCreate(BaseModel):
    """What a sprint for an issue needs to start. Goal and source come from the issue."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={"examples": [{"issue": "https://github.com/acme/widgets/issues/7"}]},
    )

    issue: Annotated[CleanLine, Field(min_length=1, max_length=500)]
    name: Name | None = None
    phases: list[Phase] = Field(default=list(DEFAULT_PHASES), min_length=1)
    agent: AgentSpec = AgentSpec()
    policy: PolicyOverrides = PolicyOverrides()
    held_out: HeldOutField = None

    @model_validator(mode="after")
    def _held_out_tests_run(self) -> Self:
        require_judged(self.held_out, self.phases)
        return self


class DeliveryTaken(BaseModel):
    """What became of a delivery of a forge. `repeated`: the service had already received it."""

    status: Literal["recorded", "repeated"]
