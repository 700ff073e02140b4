"""Events of a run as a whole: `run.*` and `workflow.*`."""

from typing import ClassVar, Literal
from uuid import UUID

from app.core.events.envelope import Envelope, EventData, TypedEventData
from app.core.events.types import SprintEventType
from app.schemas.runs import Usage


class ForkOriginData(EventData):
    """The attempt from whose commit a run started."""

    run_id: UUID
    phase: str
    attempt: int
    commit: str


class RunCreatedData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.RUN_CREATED
    kind: str
    name: str
    goal: str
    phases: list[str]
    max_attempts: int
    agent: str
    scripted: bool
    source: str
    base_commit: str
    forked_from: ForkOriginData | None = None


class RunCreatedEvent(Envelope):
    event: Literal[SprintEventType.RUN_CREATED] = SprintEventType.RUN_CREATED
    data: RunCreatedData


class RunCancelledData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.RUN_CANCELLED
    by: str
    reason: str = ""


class RunCancelledEvent(Envelope):
    event: Literal[SprintEventType.RUN_CANCELLED] = SprintEventType.RUN_CANCELLED
    data: RunCancelledData


class RunPausedData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.RUN_PAUSED
    by: str
    reason: str = ""


class RunPausedEvent(Envelope):
    event: Literal[SprintEventType.RUN_PAUSED] = SprintEventType.RUN_PAUSED
    data: RunPausedData


class RunResumedData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.RUN_RESUMED
    by: str


class RunResumedEvent(Envelope):
    event: Literal[SprintEventType.RUN_RESUMED] = SprintEventType.RUN_RESUMED
    data: RunResumedData


class BudgetWarningData(TypedEventData):
    """80 % of a budget is spent: the run's own, or one of a day in UTC, for its project or for all projects.

    `spent` and `budget` are in US dollars or tokens, as `unit` says; `setting` names what sets the budget.
    """

    event_type: ClassVar[SprintEventType] = SprintEventType.BUDGET_WARNING
    scope: Literal["run", "project_day", "installation_day"]
    unit: Literal["usd", "tokens"]
    spent: float
    budget: float
    setting: str


class BudgetWarningEvent(Envelope):
    event: Literal[SprintEventType.BUDGET_WARNING] = SprintEventType.BUDGET_WARNING
    data: BudgetWarningData


class WorkflowStartedData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.WORKFLOW_STARTED
    phases: list[str]


class WorkflowStartedEvent(Envelope):
    event: Literal[SprintEventType.WORKFLOW_STARTED] = SprintEventType.WORKFLOW_STARTED
    data: WorkflowStartedData


class WorkflowStatusData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.WORKFLOW_STATUS
    status: str
    reason: str = ""


class WorkflowStatusEvent(Envelope):
    event: Literal[SprintEventType.WORKFLOW_STATUS] = SprintEventType.WORKFLOW_STATUS
    data: WorkflowStatusData


class WorkflowCompletedData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.WORKFLOW_COMPLETED
    commit: str | None
    attempts: int
    usage: Usage
    reason: str = ""


class WorkflowCompletedEvent(Envelope):
    event: Literal[SprintEventType.WORKFLOW_COMPLETED] = SprintEventType.WORKFLOW_COMPLETED
    data: WorkflowCompletedData


class WorkflowFailedData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.WORKFLOW_FAILED
    reason: str
    by: str | None = None


class WorkflowFailedEvent(Envelope):
    event: Literal[SprintEventType.WORKFLOW_FAILED] = SprintEventType.WORKFLOW_FAILED
    data: WorkflowFailedData


RunEvent = (
    RunCreatedEvent
    | RunCancelledEvent
    | RunPausedEvent
    | RunResumedEvent
    | BudgetWarningEvent
    | WorkflowStartedEvent
    | WorkflowStatusEvent
    | WorkflowCompletedEvent
    | WorkflowFailedEvent
)
"""Any event of this topic."""
