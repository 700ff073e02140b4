"""Runs of every kind, as the API shows and changes them."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from app.schemas.agents import AgentSpec
from app.schemas.api.attempts import AttemptView
from app.schemas.api.escalations import MAX_GUIDANCE_CHARS, EscalationView
from app.schemas.api.policies import PolicyOverrides, PolicyView
from app.schemas.baseline import BaselineSummary
from app.schemas.forges import ForgeView
from app.schemas.held_out import HeldOutAtBase
from app.schemas.runs import Phase, RunKind, RunStatus, Usage
from app.schemas.text import CleanText, clean_text

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class PhaseView(BaseModel):
    """The state of one phase. `max_attempts` is allowed now, including what reviewers granted."""

    model_config = ConfigDict(frozen=True)

    phase: str
    status: str = Field(description="pending, active, waiting, completed, failed or cancelled")
    attempts: int
    max_attempts: int
    score: float | None


class PauseView(BaseModel):
    """When a run was paused, by whom and why."""

    model_config = ConfigDict(frozen=True)

    at: datetime
    by: str
    reason: str


class ForkOrigin(BaseModel):
    """The attempt of another sprint that a sprint started from."""

    model_config = ConfigDict(frozen=True)

    run_id: UUID
    phase: str
    attempt: int
    commit: str


class ListedRun(BaseModel):
    """A run in a list, without its goal.

    `attempt` is the latest of the current phase. `max_attempts` is what this phase may use now, including
    attempts that reviewers granted.
    """

    model_config = ConfigDict(frozen=True)

    id: UUID
    kind: RunKind
    name: str
    status: RunStatus
    status_reason: str
    phase: str | None
    attempt: int | None
    max_attempts: int
    agent: str = Field(description="The agent; the text says so if it is a script.")
    scripted: bool
    project: str = Field(default="", description="The location of the source: a path or a URL.")
    score: float | None = Field(
        default=None, description="The score of the latest evaluated attempt; null before that."
    )
    usage: Usage
    escalation_id: UUID | None = Field(description="The open escalation, if the run waits for a human.")
    paused: PauseView | None = Field(
        default=None, description="Set while the run is paused; `status` is what it continues with."
    )
    forked_from: ForkOrigin | None = Field(
        default=None, description="The attempt it started from, if it is a fork of another sprint."
    )
    last_sequence: int = Field(default=0, description="The sequence of the run's latest event.")
    version: int = Field(default=1, description="Increases with each change of the run's state.")
    created_by: str
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class RunView(ListedRun):
    """A run as lists show it."""

    goal: str


class HeldOutView(BaseModel):
    """The held-out tests of a run, without their texts."""

    model_config = ConfigDict(frozen=True)

    files: list[str]
    at_base: HeldOutAtBase | None = Field(
        description="What they do on the base's own code; null until that was tried."
    )
    note: str = Field(description="The same in a sentence.")


class RunDetail(RunView):
    """A run with its phases, attempts and escalations."""

    source: dict[str, Any]
    guidance: list[str] = Field(default=[], description="Part of the prompt of every attempt.")
    policy: PolicyView
    held_out: HeldOutView | None = Field(
        default=None, description="The tests that no agent sees; null if there are none."
    )
    baseline: BaselineSummary | None = Field(
        default=None,
        description="What the base's tests do before anything is done; null until that is measured.",
    )
    base_commit: str
    head_commit: str
    phases: list[PhaseView]
    attempts: list[AttemptView]
    escalations: list[EscalationView]
    forge: ForgeView | None = Field(
        default=None, description="The run's place on a forge, if its repository takes part."
    )


class RunPage(BaseModel):
    """A page of runs; `next_cursor` is null on the last page."""

    items: list[RunView]
    next_cursor: str | None


class RunCancel(BaseModel):
    """Why a run is cancelled."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: CleanText = Field(default="", max_length=2000)


class RunPause(BaseModel):
    """Why a run is paused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: CleanText = Field(default="", max_length=2000)


class RunFork(BaseModel):
    """The attempt that a new sprint starts from, and what differs in the new sprint.

    The new sprint starts in the attempt's phase with its files. It keeps the base and the policy of the
    original, except for the fields given here.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"phase": "coding", "attempt": 2, "guidance": "Keep the parser; mend only the rounding."}
            ]
        },
    )

    phase: Phase
    attempt: int = Field(ge=1, le=2**31 - 1, description="Number of the attempt within its phase.")
    guidance: CleanText = Field(default="", max_length=MAX_GUIDANCE_CHARS)
    name: Name | None = None
    agent: AgentSpec | None = Field(default=None, description="The agent; by default the same as before.")
    policy: PolicyOverrides = PolicyOverrides()

    @field_validator("name")
    @classmethod
    def _no_control_characters(cls, value: str | None) -> str | None:
        return value if value is None else clean_text(value)
