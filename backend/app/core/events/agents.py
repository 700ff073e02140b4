"""Events of agents at work: `agent.*` and `tool.*`."""

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from app.core.events.envelope import Envelope, EventData, TypedEventData
from app.core.events.types import SprintEventType


class ProgressLine(EventData):
    text: str
    at: datetime


class AgentProgressData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.AGENT_PROGRESS
    lines: list[ProgressLine]
    candidate: int = 0


class AgentProgressEvent(Envelope):
    event: Literal[SprintEventType.AGENT_PROGRESS] = SprintEventType.AGENT_PROGRESS
    data: AgentProgressData


class AgentFailedData(TypedEventData):
    """An agent failed; `retry_at` is when the provider's limit ends, if the provider reports it."""

    event_type: ClassVar[SprintEventType] = SprintEventType.AGENT_FAILED
    kind: str
    message: str
    failures: int
    retry_in_seconds: float | None
    retry_at: datetime | None = None
    vendor_login: bool = False


class AgentFailedEvent(Envelope):
    event: Literal[SprintEventType.AGENT_FAILED] = SprintEventType.AGENT_FAILED
    data: AgentFailedData


class AgentMessageData(TypedEventData):
    """A message from a person to the agent; `status` is queued, delivered or refused."""

    event_type: ClassVar[SprintEventType] = SprintEventType.AGENT_MESSAGE
    message_id: UUID
    mode: str
    text: str
    status: str
    by: str
    reason: str = ""


class AgentMessageEvent(Envelope):
    event: Literal[SprintEventType.AGENT_MESSAGE] = SprintEventType.AGENT_MESSAGE
    data: AgentMessageData


class ToolData(EventData):
    tool: str
    text: str
    candidate: int = 0


class ToolCalledEvent(Envelope):
    event: Literal[SprintEventType.TOOL_CALLED] = SprintEventType.TOOL_CALLED
    data: ToolData


class ToolResultEvent(Envelope):
    event: Literal[SprintEventType.TOOL_RESULT] = SprintEventType.TOOL_RESULT
    data: ToolData


AgentEvent = AgentProgressEvent | AgentFailedEvent | AgentMessageEvent | ToolCalledEvent | ToolResultEvent
"""Any event of this topic."""
