"""Events of candidates and of the judge that chooses between them: `candidate.*` and `judge.*`."""

from typing import ClassVar, Literal

from pydantic import Field

from app.core.events.envelope import Envelope, EventData, TypedEventData
from app.core.events.types import SprintEventType


class CandidateData(EventData):
    candidate: int
    agent: str
    provider: str
    model: str | None = None
    error: str | None = None


class CandidateStartedEvent(Envelope):
    event: Literal[SprintEventType.CANDIDATE_STARTED] = SprintEventType.CANDIDATE_STARTED
    data: CandidateData


class CandidateGeneratedEvent(Envelope):
    event: Literal[SprintEventType.CANDIDATE_GENERATED] = SprintEventType.CANDIDATE_GENERATED
    data: CandidateData


class CandidateFailedEvent(Envelope):
    event: Literal[SprintEventType.CANDIDATE_FAILED] = SprintEventType.CANDIDATE_FAILED
    data: CandidateData


class JudgeStartedData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.JUDGE_STARTED
    candidates: list[int]


class JudgeStartedEvent(Envelope):
    event: Literal[SprintEventType.JUDGE_STARTED] = SprintEventType.JUDGE_STARTED
    data: JudgeStartedData


class JudgeDecidedData(TypedEventData):
    """The chosen candidate. Without scores, no model chose; `order` is the order that the model saw."""

    event_type: ClassVar[SprintEventType] = SprintEventType.JUDGE_DECIDED
    candidate: int
    score: float | None = None
    rationale: str = ""
    model: str | None = None
    order: list[int] = Field(default=[])
    seed: int | None = None


class JudgeDecidedEvent(Envelope):
    event: Literal[SprintEventType.JUDGE_DECIDED] = SprintEventType.JUDGE_DECIDED
    data: JudgeDecidedData


CandidateEvent = (
    CandidateStartedEvent
    | CandidateGeneratedEvent
    | CandidateFailedEvent
    | JudgeStartedEvent
    | JudgeDecidedEvent
)
"""Any event of this topic."""
