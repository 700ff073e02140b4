"""What all events share: the base of their payloads and the envelope around them."""

from datetime import UTC, datetime
from typing import Any, ClassVar, cast
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.core.events.types import SprintEventType


class EventData(BaseModel):
    """Payload of an event. It can also be read like a mapping (`data["phase"]`), as on the wire."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

    def __getitem__(self, name: str) -> Any:
        if name not in type(self).model_fields:
            raise KeyError(name)
        return getattr(self, name)


class TypedEventData(EventData):
    """Payload of exactly one type of event, named by `event_type`; an `EventData` may serve several types."""

    event_type: ClassVar[SprintEventType]


class Envelope(BaseModel):
    """What every event carries.

    `sequence` counts from 1 without gaps in each run and is assigned by the store; 0 means *not stored yet*.
    For a sprint, `sprint_id` equals `run_id`.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    run_id: UUID
    sprint_id: UUID
    sequence: int = Field(default=0, ge=0)
    timestamp: datetime = Field(default_factory=lambda: datetime.now(UTC))
    phase: str | None = None
    attempt: int | None = None
    trace_id: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_id_is_enough(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        given = cast("dict[str, Any]", data)
        run_id = given.get("run_id") or given.get("sprint_id")
        return {**given, "run_id": run_id, "sprint_id": given.get("sprint_id") or run_id}
