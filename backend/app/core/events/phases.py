"""Events of phases: `phase.*`."""

from typing import ClassVar, Literal

from app.core.events.envelope import Envelope, TypedEventData
from app.core.events.types import SprintEventType


class PhaseStartedData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.PHASE_STARTED
    max_attempts: int


class PhaseStartedEvent(Envelope):
    event: Literal[SprintEventType.PHASE_STARTED] = SprintEventType.PHASE_STARTED
    data: PhaseStartedData


class PhaseCompletedData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.PHASE_COMPLETED
    attempts: int
    commit: str | None
    accepted_by: str | None = None


class PhaseCompletedEvent(Envelope):
    event: Literal[SprintEventType.PHASE_COMPLETED] = SprintEventType.PHASE_COMPLETED
    data: PhaseCompletedData


class PhaseFailedData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.PHASE_FAILED
    reason: str


class PhaseFailedEvent(Envelope):
    event: Literal[SprintEventType.PHASE_FAILED] = SprintEventType.PHASE_FAILED
    data: PhaseFailedData


PhaseEvent = PhaseStartedEvent | PhaseCompletedEvent | PhaseFailedEvent
"""Any event of this topic."""
