"""All events as one type, discriminated by `event`."""

from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter

from app.core.events.agents import AgentEvent
from app.core.events.attempts import AttemptEvent
from app.core.events.baselines import BaselineCompletedEvent
from app.core.events.candidates import CandidateEvent
from app.core.events.envelope import Envelope, TypedEventData
from app.core.events.escalations import EscalationEvent
from app.core.events.evaluations import EvaluationEvent
from app.core.events.held_out import HeldOutCheckedEvent
from app.core.events.iterations import IterationEvent
from app.core.events.phases import PhaseEvent
from app.core.events.runs import RunEvent

Event = Annotated[
    RunEvent
    | PhaseEvent
    | AttemptEvent
    | AgentEvent
    | CandidateEvent
    | EvaluationEvent
    | BaselineCompletedEvent
    | HeldOutCheckedEvent
    | IterationEvent
    | EscalationEvent,
    Field(discriminator="event"),
]
"""Any event, discriminated by `event`."""

EVENT_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event, config=ConfigDict(defer_build=True))
"""Reads an event of any type, and provides the JSON Schema of the union."""


def event_of(data: TypedEventData, at: Envelope) -> Event:
    """Return the event for a payload, at a place in a run.

    Raises:
        pydantic.ValidationError: the payload does not fit the event of its type.
    """
    return EVENT_ADAPTER.validate_python({**dict(at), "event": data.event_type, "data": data})
