"""The public module of events, on which clients and contracts rely; `app.core.events` holds the rest."""

from app.core.events.envelope import Envelope
from app.core.events.evaluations import EvaluationCompletedData, EvaluationCompletedEvent, EvaluationData
from app.core.events.types import FINAL_EVENT_TYPES, SprintEventType
from app.core.events.union import EVENT_ADAPTER, Event

__all__ = [
    "EVENT_ADAPTER",
    "FINAL_EVENT_TYPES",
    "Envelope",
    "EvaluationCompletedData",
    "EvaluationCompletedEvent",
    "EvaluationData",
    "Event",
    "SprintEventType",
]
