"""Runs of every kind, as the API shows and changes them."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from app.schemas.forges import ForgeView
from app.schemas.runs import RunKind, RunStatus, Usage
from app.schemas.text import CleanText

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class PhaseView(BaseModel):
    """The state of one phase. `max_attempts` is what is allowed now, including what reviewers granted."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    phase: str
    status: str = Field(description="pending, active, waiting, completed, failed or cancelled")
    attempts: int
    max_attempts: int
    score: float | None


class PauseView(BaseModel):
    """When a run was paused, by whom and why."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    at: datetime
    by: str
    reason: str


class ForkOrigin(BaseModel):
    """The attempt of another sprint from which a sprint started."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    run_id: UUID
    phase: str
    attempt: int
    commit: str


class ListedRun(BaseModel):
    """A run in a list, without its goal.

    `attempt` is the latest of the current phase. `max_attempts` is what this phase may use now, including
    attempts that reviewers granted.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    id: UUID
    kind: RunKind
    name: str
    status: RunStatus
    status_reason: str
    phase: str | None
    attempt: int | None
    max_attempts: int
    attempts_used: int = Field(default=0, description="The attempts of all phases so far.")
    agent: str = Field(description="The agent; the text says so if it is a script.")
    scripted: bool
    project: str = Field(default="", description="The location of the source: a path or a URL.")
    score: float | None = Field(
        default=None, description="The score of the latest evaluated attempt; null before that."
    )
    usage: Usage
    escalation_id: UUID | None = Field(description="The open escalation, if the run waits for a person.")
    paused: PauseView | None = Field(
        default=None, description="Set while the run is paused; `status` is what it continues with."
    )
    forked_from: ForkOrigin | None = Field(
        default=None, description="The attempt it started from, if it is a fork of another sprint."
    )
    forge: ForgeView | None = Field(
        default=None, description="The run's place on a forge, if its repository takes part."
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
