"""Events of evaluations and of the retry after one: `evaluation.*`, `evaluator.*`, `optimization.*`."""

from collections.abc import Sequence
from typing import ClassVar, Literal, Self
from uuid import UUID

from pydantic import Field

from app.core.events.envelope import Envelope, EventData, TypedEventData
from app.core.events.types import SprintEventType


class EvaluationStartedData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.EVALUATION_STARTED
    evaluators: list[str]


class EvaluationStartedEvent(Envelope):
    event: Literal[SprintEventType.EVALUATION_STARTED] = SprintEventType.EVALUATION_STARTED
    data: EvaluationStartedData


class EvaluationData(EventData):
    """One evaluator's verdict, as dashboards need it."""

    evaluator_name: str
    category: str
    passed: bool
    score: float
    feedback: str
    suggestions: list[str] = Field(default=[])
    status: str | None = None
    gate: bool | None = None
    observed: bool = False
    duration_ms: int | None = None


class EvaluatorCompletedEvent(Envelope):
    event: Literal[SprintEventType.EVALUATOR_COMPLETED] = SprintEventType.EVALUATOR_COMPLETED
    data: EvaluationData


class EvaluationCompletedData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.EVALUATION_COMPLETED
    phase: str
    attempt: int
    overall_passed: bool
    evaluations: list[EvaluationData]
    score: float | None = None
    reason: str = ""


class EvaluationCompletedEvent(Envelope):
    event: Literal[SprintEventType.EVALUATION_COMPLETED] = SprintEventType.EVALUATION_COMPLETED
    data: EvaluationCompletedData

    @classmethod
    def create(
        cls,
        sprint_id: UUID,
        phase: str,
        attempt: int,
        evaluations: Sequence[EvaluationData],
        overall_passed: bool,
        sequence: int = 0,
    ) -> Self:
        """Return the event that closes the evaluation of one attempt."""
        return cls(
            run_id=sprint_id,
            sprint_id=sprint_id,
            phase=phase,
            attempt=attempt,
            sequence=sequence,
            data=EvaluationCompletedData(
                phase=phase, attempt=attempt, overall_passed=overall_passed, evaluations=list(evaluations)
            ),
        )


class EvaluationFailedData(TypedEventData):
    """The panel reached no verdict; the evaluation is repeated, or a person is asked."""

    event_type: ClassVar[SprintEventType] = SprintEventType.EVALUATION_FAILED
    reason: str
    evaluators: list[str]
    failures: int
    retry_in_seconds: float | None


class EvaluationFailedEvent(Envelope):
    event: Literal[SprintEventType.EVALUATION_FAILED] = SprintEventType.EVALUATION_FAILED
    data: EvaluationFailedData


class OptimizationStartedData(TypedEventData):
    event_type: ClassVar[SprintEventType] = SprintEventType.OPTIMIZATION_STARTED
    next_attempt: int
    issues: list[str]
    guidance: list[str] = Field(default=[])


class OptimizationStartedEvent(Envelope):
    event: Literal[SprintEventType.OPTIMIZATION_STARTED] = SprintEventType.OPTIMIZATION_STARTED
    data: OptimizationStartedData


EvaluationEvent = (
    EvaluationStartedEvent
    | EvaluatorCompletedEvent
    | EvaluationCompletedEvent
    | EvaluationFailedEvent
    | OptimizationStartedEvent
)
"""Any event of this topic."""
