"""Events of escalations: `escalation.*`."""

from typing import ClassVar, Literal
from uuid import UUID

from pydantic import Field

from app.core.events.envelope import Envelope, TypedEventData
from app.core.events.types import SprintEventType


class EscalationRequiredData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.ESCALATION_REQUIRED
    escalation_id: UUID
    reason_kind: str
    reason: str


class EscalationRequiredEvent(Envelope):
    event: Literal[SprintEventType.ESCALATION_REQUIRED] = SprintEventType.ESCALATION_REQUIRED
    data: EscalationRequiredData


class EscalationReminderData(TypedEventData):
    """An escalation is still open: the reminder's number from 1, and how long the escalation has waited."""

    event_type: ClassVar[SprintEventType] = SprintEventType.ESCALATION_REMINDER
    escalation_id: UUID
    reason_kind: str
    reason: str
    reminder: int
    waiting_seconds: int


class EscalationReminderEvent(Envelope):
    event: Literal[SprintEventType.ESCALATION_REMINDER] = SprintEventType.ESCALATION_REMINDER
    data: EscalationReminderData


class EscalationAssignedData(TypedEventData):
    """A reviewer took or released an escalation.

    `assigned_to` is null if it was released; `before` is who had it until then.
    """

    event_type: ClassVar[SprintEventType] = SprintEventType.ESCALATION_ASSIGNED
    escalation_id: UUID
    assigned_to: str | None
    before: str | None


class EscalationAssignedEvent(Envelope):
    event: Literal[SprintEventType.ESCALATION_ASSIGNED] = SprintEventType.ESCALATION_ASSIGNED
    data: EscalationAssignedData


class EscalationResolvedData(TypedEventData):
    """A reviewer's decision.

    `max_attempts` is what the phase may use from now on, grants included; null in events of older versions.
    `known_failures` is how many tests became known failures of the repository.
    """

    event_type: ClassVar[SprintEventType] = SprintEventType.ESCALATION_RESOLVED
    escalation_id: UUID
    decision: str
    decided_by: str
    guidance: str = ""
    additional_attempts: int = 0
    max_attempts: int | None = None
    open_paths: list[str] = Field(default=[])
    known_failures: int = 0


class EscalationResolvedEvent(Envelope):
    event: Literal[SprintEventType.ESCALATION_RESOLVED] = SprintEventType.ESCALATION_RESOLVED
    data: EscalationResolvedData


EscalationEvent = (
    EscalationRequiredEvent | EscalationReminderEvent | EscalationAssignedEvent | EscalationResolvedEvent
)
"""Any event of this topic."""
