"""What a run's model requests consumed, in the API."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from app.schemas.runs import ModelRole


class ModelUsage(BaseModel):
    """What several model requests consumed together.

    `cost_usd` is the sum of the costs that are known, null if none is. `billed_usd` (the providers' figures)
    and `computed_usd` (list prices) are its parts. `unknown_costs` counts the requests without a cost.
    """

    model_config = ConfigDict(frozen=True)

    requests: int
    failed_requests: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: float | None
    billed_usd: float | None
    computed_usd: float | None
    unknown_costs: int


class UsagePart(ModelUsage):
    """The requests of one attempt, candidate and role to one model; `run_id` is the run or a subtask of it.

    The provider `reported` stands for requests that were not metered, as the agent itself reports them.
    """

    run_id: UUID
    phase: str | None
    attempt: int | None
    candidate: int | None
    role: ModelRole
    provider: str
    model: str
    latency_ms: int
    """Mean time of a request, from its start to the end of the response."""


class ModelRequestView(BaseModel):
    """One request to a model: its time, how long its response took, and what it consumed."""

    model_config = ConfigDict(frozen=True)

    at: datetime
    latency_ms: int
    role: ModelRole
    candidate: int | None
    provider: str
    model: str
    status: int
    input_tokens: int | None
    output_tokens: int | None


class ModelRequestList(BaseModel):
    """The first 1,000 model requests of an attempt, oldest first; `more` tells that there are others."""

    model_config = ConfigDict(frozen=True)

    items: tuple[ModelRequestView, ...]
    more: bool


class BudgetLine(BaseModel):
    """A budget that bounds a run, and how much of it is spent, in US dollars or tokens as `unit` says.

    `run` is the run's own budget, including what reviewers granted; the others are today's in UTC, for the
    run's project and for all projects. `setting` names what sets the budget.
    """

    model_config = ConfigDict(frozen=True)

    scope: Literal["run", "project_day", "installation_day"]
    unit: Literal["usd", "tokens"]
    spent: float
    budget: float
    setting: str


class RunUsage(BaseModel):
    """What a run's model requests consumed: in total, and by attempt, candidate, role and model.

    Subtasks are included. `budgets` are those that bound the run; empty if none does.
    """

    model_config = ConfigDict(frozen=True)

    total: ModelUsage
    parts: list[UsagePart]
    budgets: list[BudgetLine] = []
