"""Events of attempts: `attempt.*`."""

from typing import ClassVar, Literal

from pydantic import Field

from app.core.events.envelope import Envelope, TypedEventData
from app.core.events.types import SprintEventType
from app.schemas.runs import Usage


class AttemptStartedData(TypedEventData):
    """An attempt starts. `resumed`: it had started before. `taken_over`: the worker that held it was lost."""

    event_type: ClassVar[SprintEventType] = SprintEventType.ATTEMPT_STARTED
    prompt_chars: int
    base_commit: str
    resumed: bool = False
    taken_over: bool = False


class AttemptStartedEvent(Envelope):
    event: Literal[SprintEventType.ATTEMPT_STARTED] = SprintEventType.ATTEMPT_STARTED
    data: AttemptStartedData


class AttemptProducedData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.ATTEMPT_PRODUCED
    commit: str
    output: str
    changed_files: list[str]
    dropped: list[str] = Field(default=[])
    fixed: list[str] = Field(default=[])
    usage: Usage
    agent: str
    model: str | None = None
    vendor_login: bool = False


class AttemptProducedEvent(Envelope):
    event: Literal[SprintEventType.ATTEMPT_PRODUCED] = SprintEventType.ATTEMPT_PRODUCED
    data: AttemptProducedData


class AttemptInterruptedData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.ATTEMPT_INTERRUPTED
    reason: str
    lost_workers: int


class AttemptInterruptedEvent(Envelope):
    event: Literal[SprintEventType.ATTEMPT_INTERRUPTED] = SprintEventType.ATTEMPT_INTERRUPTED
    data: AttemptInterruptedData


AttemptEvent = AttemptStartedEvent | AttemptProducedEvent | AttemptInterruptedEvent
"""Any event of this topic."""
