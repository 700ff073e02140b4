"""The backlog in the API: work that waits for other work, for free capacity, or for people."""

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.schemas.agents import AgentSpec
from app.schemas.api.policies import PolicyOverrides
from app.schemas.api.runs import ListedRun
from app.schemas.api.sprints import SprintCreate
from app.schemas.text import CleanLine
from app.schemas.workspaces import ArchiveSource

MAX_ITEMS_AT_ONCE = 200
MAX_DEPENDENCIES = 50
MAX_PRIORITY = 1000

Until = Literal["accepted", "merged"]
BacklogStatus = Literal["waiting", "starting", "started", "removed"]
Priority = Annotated[int, Field(ge=-MAX_PRIORITY, le=MAX_PRIORITY)]
_Limit = Annotated[int, Field(ge=1, le=10_000)] | None


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Dependency(_Strict):
    """Other work that must come first."""

    on: Annotated[CleanLine, Field(min_length=1, max_length=100)] = Field(
        description="The id of an item or run, or the `key` of an item in the same request."
    )
    until: Until = Field(
        default="accepted",
        description="`accepted`: its run completed. `merged`: its pull request was merged.",
    )


class BacklogItemCreate(_Strict):
    """One item: a sprint to start later."""

    sprint: SprintCreate
    key: Annotated[CleanLine, Field(min_length=1, max_length=100)] | None = Field(
        default=None, description="A name for `depends_on` of other items in the same request."
    )
    priority: Priority = Field(default=0, description="Items with a higher priority start first.")
    depends_on: list[Dependency] = Field(default=[], max_length=MAX_DEPENDENCIES)

    @model_validator(mode="after")
    def _keeps(self) -> Self:
        if isinstance(self.sprint.source, ArchiveSource):
            # A ValueError in a nested field must name the field of the item.
            raise ValueError("sprint.source: the backlog takes repositories, not archives")  # noqa: TRY004 - for pydantic
        return self


class BacklogAdd(_Strict):
    """Items to add; all of them or none are added."""

    items: list[BacklogItemCreate] = Field(min_length=1, max_length=MAX_ITEMS_AT_ONCE)

    @model_validator(mode="after")
    def _keys_differ(self) -> Self:
        seen: set[str] = set()
        for index, each in enumerate(self.items):
            if each.key is not None and each.key in seen:
                raise ValueError(f"items.{index}.key: {each.key!r} is defined twice")
            seen |= {each.key} if each.key else set()
        return self


class BacklogIssues(_Strict):
    """Open issues of a repository that become items; issues that already have an item are left out."""

    repository: Annotated[CleanLine, Field(min_length=1, max_length=300)] = Field(
        description="The repository's URL, as in the operator's file of forges."
    )
    labels: list[Annotated[CleanLine, Field(min_length=1, max_length=100)]] = Field(default=[], max_length=10)
    limit: int = Field(default=50, ge=1, le=100)
    priority: Priority = 0
    agent: AgentSpec = AgentSpec()
    policy: PolicyOverrides = PolicyOverrides()


class BacklogChange(_Strict):
    """Changes to a waiting item; absent fields stay."""

    priority: Priority | None = None
    depends_on: list[Dependency] | None = Field(default=None, max_length=MAX_DEPENDENCIES)


class ProjectLimits(_Strict):
    """How much of a project's backlog may be in progress at once; null sets no limit.

    Attributes:
        running: unfinished runs that neither wait for people nor are paused.
        waiting_for_humans: runs that wait for a person's decision.
        open_pull_requests: pull requests that are neither merged nor closed.
        per_day: runs that started since midnight UTC.
    """

    running: _Limit = None
    waiting_for_humans: _Limit = None
    open_pull_requests: _Limit = None
    per_day: _Limit = None


class BacklogProjectChange(_Strict):
    """Changes to a project; absent fields stay."""

    project: Annotated[CleanLine, Field(min_length=1, max_length=4096)]
    paused: bool | None = None
    limits: ProjectLimits | None = None


class BacklogProjectView(BaseModel):
    """A project of the backlog, its limits, and its present load."""

    model_config = ConfigDict(frozen=True)

    project: str
    paused_at: datetime | None
    paused_by: str | None
    limits: ProjectLimits
    running: int
    waiting_for_humans: int
    open_pull_requests: int
    started_today: int


class DependencyView(BaseModel):
    """Other work that must come first, and whether it is done."""

    model_config = ConfigDict(frozen=True)

    on: UUID
    until: Until
    name: str
    met: bool


class BacklogItemView(BaseModel):
    """An item. Once started, its run has the same id."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    name: str
    project: str
    priority: int
    status: BacklogStatus
    reason: str = Field(description="Why it has not started; empty if it has, or is next.")
    depends_on: list[DependencyView]
    issue: int | None = Field(default=None, description="The number of the issue that it came from.")
    created_by: str
    created_at: datetime


class BacklogItems(BaseModel):
    """Items that were added or found, in order."""

    items: list[BacklogItemView]


class BoardColumn(BaseModel):
    """Runs in one state; `total` also counts those that are not listed."""

    items: list[ListedRun]
    total: int


class BacklogBoard(BaseModel):
    """The board: work that waits, work in progress, and finished work."""

    waiting: list[BacklogItemView]
    waiting_total: int
    running: BoardColumn
    asks_human: BoardColumn
    in_review: BoardColumn = Field(description="Runs whose pull request is open.")
    done: BoardColumn = Field(description="Finished runs without an open pull request, newest first.")
    projects: list[BacklogProjectView]
