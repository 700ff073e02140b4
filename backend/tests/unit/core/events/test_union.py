"""Every type of event has one class, and a payload finds its event by itself."""

from typing import Any, get_args
from uuid import uuid4

import pytest
from pydantic import ValidationError

from app.core.events import agents, candidates, evaluations
from app.core.events.envelope import Envelope, EventData, TypedEventData
from app.core.events.phases import PhaseStartedData, PhaseStartedEvent
from app.core.events.types import FINAL_EVENT_TYPES, SprintEventType
from app.core.events.union import EVENT_ADAPTER, Event, event_of

_CLASSES: tuple[type[Envelope], ...] = get_args(get_args(Event)[0])
_SHARED = {agents.ToolData, candidates.CandidateData, evaluations.EvaluationData}


def _type_of(event: type[Envelope]) -> SprintEventType:
    default: Any = event.model_fields["event"].default
    return SprintEventType(default)


def _data_of(event: type[Envelope]) -> type[EventData]:
    data: Any = event.model_fields["data"].annotation
    return data


def test_every_type_has_exactly_one_event_class() -> None:
    assert sorted(map(_type_of, _CLASSES)) == sorted(SprintEventType)


@pytest.mark.parametrize("event", _CLASSES, ids=lambda each: each.__name__)
def test_a_payload_names_its_event_or_is_shared(event: type[Envelope]) -> None:
    data = _data_of(event)
    if issubclass(data, TypedEventData):
        assert data.event_type is _type_of(event)
    else:
        assert data in _SHARED


def test_a_payload_becomes_its_event_at_its_place() -> None:
    run_id = uuid4()
    at = Envelope(run_id=run_id, sprint_id=run_id, phase="coding", trace_id="0" * 32)
    event = event_of(PhaseStartedData(max_attempts=3), at)
    assert isinstance(event, PhaseStartedEvent)
    assert (event.run_id, event.phase, event.trace_id) == (run_id, "coding", "0" * 32)
    assert event.timestamp == at.timestamp
    assert event.data["max_attempts"] == 3


def test_a_payload_that_names_the_event_of_another_is_refused() -> None:
    class Stray(TypedEventData):
        event_type = SprintEventType.PHASE_STARTED
        text: str = ""

    run_id = uuid4()
    with pytest.raises(ValidationError, match="PhaseStartedData"):
        event_of(Stray(), Envelope(run_id=run_id, sprint_id=run_id))


def test_an_unknown_type_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match=r"phase\.vanished"):
        EVENT_ADAPTER.validate_python({"event": "phase.vanished", "run_id": uuid4(), "data": {}})


def test_a_payload_with_a_member_too_many_is_refused() -> None:
    with pytest.raises(ValidationError, match="surprise"):
        PhaseStartedData.model_validate({"max_attempts": 3, "surprise": 1})


def test_final_types_end_a_run() -> None:
    assert {each.value for each in FINAL_EVENT_TYPES} == {
        "run.cancelled",
        "workflow.completed",
        "workflow.failed",
    }
