"""Runs of every kind, as the API shows and changes them."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from app.schemas.agents import AgentSpec
from app.schemas.api.attempts import AttemptView
from app.schemas.api.escalations import MAX_GUIDANCE_CHARS, EscalationView
from app.schemas.api.policies import PolicyOverrides, PolicyView
from app.schemas.runs import Phase, RunKind, RunStatus, Usage
from app.schemas.text import CleanText, clean_text

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class PhaseView(BaseModel):
    """Where one phase of the plan stands."""

    model_config = ConfigDict(frozen=True)

    phase: str
    status: str = Field(description="pending, active, waiting, completed, failed or cancelled")
    attempts: int
    max_attempts: int
    score: float | None


class PauseView(BaseModel):
    """Since when a sprint is held, by whom and why."""

    model_config = ConfigDict(frozen=True)

    at: datetime
    by: str
    reason: str


class ForkOrigin(BaseModel):
    """The attempt of another sprint whose commit a sprint began with."""

    model_config = ConfigDict(frozen=True)

    run_id: UUID
    phase: str
    attempt: int
    commit: str


class ListedRun(BaseModel):
    """A run in a list: everything short that is known of it. `attempt` is the latest of the current phase."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    kind: RunKind
    name: str
    status: RunStatus
    status_reason: str
    phase: str | None
    attempt: int | None
    max_attempts: int
    agent: str = Field(description="Who does the work; a script says that it is one.")
    scripted: bool
    project: str = Field(default="", description="Where the source is: a path or a URL.")
    score: float | None = Field(
        default=None, description="The score of the latest judged attempt; null before there is one."
    )
    usage: Usage
    escalation_id: UUID | None = Field(description="The open escalation, if a human is asked.")
    paused: PauseView | None = Field(
        default=None, description="Set while a human holds the sprint; `status` says what it goes on with."
    )
    forked_from: ForkOrigin | None = Field(
        default=None, description="The attempt it began with, if it was forked from another sprint."
    )
    last_sequence: int = Field(default=0, description="The number of the run's latest event.")
    version: int = Field(default=1, description="Grows with each change of where the run stands.")
    created_by: str
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class RunView(ListedRun):
    """One sprint, as lists show it."""

    goal: str


class RunDetail(RunView):
    """One sprint, whole."""

    source: dict[str, Any]
    guidance: list[str] = Field(default=[], description="Pinned in the prompt of every attempt.")
    policy: PolicyView
    base_commit: str
    head_commit: str
    phases: list[PhaseView]
    attempts: list[AttemptView]
    escalations: list[EscalationView]


class RunPage(BaseModel):
    """A page of sprints, newest first; `next_cursor` is null on the last page."""

    items: list[RunView]
    next_cursor: str | None


class RunCancel(BaseModel):
    """Why a sprint is cancelled."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: CleanText = Field(default="", max_length=2000)


class RunPause(BaseModel):
    """Why a sprint is held."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: CleanText = Field(default="", max_length=2000)


class RunFork(BaseModel):
    """The attempt a new sprint begins with, and what is different there.

    The new sprint begins in the attempt's phase, with what the attempt left. It is judged against the same
    base, with the policy of the sprint that it comes from; what is given here takes precedence.
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
    agent: AgentSpec | None = Field(default=None, description="Who works; by default the same as before.")
    policy: PolicyOverrides = PolicyOverrides()

    @field_validator("name")
    @classmethod
    def _no_control_characters(cls, value: str | None) -> str | None:
        return value if value is None else clean_text(value)
