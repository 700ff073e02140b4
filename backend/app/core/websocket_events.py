"""The events of a run: one definition for the database, the WebSocket, the docs and the generated types."""

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self, cast
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from app.core.event_data import (
    AgentFailedData,
    AgentProgressData,
    AttemptInterruptedData,
    AttemptProducedData,
    AttemptStartedData,
    CandidateData,
    EscalationReminderData,
    EscalationRequiredData,
    EscalationResolvedData,
    EvaluationCompletedData,
    EvaluationData,
    EvaluationFailedData,
    EvaluationStartedData,
    IterationCompletedData,
    IterationDirectedData,
    IterationFailedData,
    IterationScriptedData,
    IterationStartedData,
    JudgeDecidedData,
    JudgeStartedData,
    OptimizationStartedData,
    PhaseCompletedData,
    PhaseFailedData,
    PhaseStartedData,
    RunCancelledData,
    RunCreatedData,
    RunPausedData,
    RunResumedData,
    SubtaskCompletedData,
    SubtaskStartedData,
    ToolData,
    WorkflowCompletedData,
    WorkflowFailedData,
    WorkflowStartedData,
    WorkflowStatusData,
)


class SprintEventType(StrEnum):
    """Every value of an envelope's `event`."""

    RUN_CREATED = "run.created"
    RUN_CANCELLED = "run.cancelled"
    RUN_PAUSED = "run.paused"
    RUN_RESUMED = "run.resumed"
    WORKFLOW_STARTED = "workflow.started"
    WORKFLOW_STATUS = "workflow.status"
    WORKFLOW_COMPLETED = "workflow.completed"
    WORKFLOW_FAILED = "workflow.failed"
    PHASE_STARTED = "phase.started"
    PHASE_COMPLETED = "phase.completed"
    PHASE_FAILED = "phase.failed"
    ATTEMPT_STARTED = "attempt.started"
    ATTEMPT_PRODUCED = "attempt.produced"
    ATTEMPT_INTERRUPTED = "attempt.interrupted"
    AGENT_PROGRESS = "agent.progress"
    AGENT_FAILED = "agent.failed"
    TOOL_CALLED = "tool.called"
    TOOL_RESULT = "tool.result"
    CANDIDATE_STARTED = "candidate.started"
    CANDIDATE_GENERATED = "candidate.generated"
    CANDIDATE_FAILED = "candidate.failed"
    JUDGE_STARTED = "judge.started"
    JUDGE_DECIDED = "judge.decided"
    EVALUATION_STARTED = "evaluation.started"
    EVALUATOR_COMPLETED = "evaluator.completed"
    EVALUATION_COMPLETED = "evaluation.completed"
    EVALUATION_FAILED = "evaluation.failed"
    OPTIMIZATION_STARTED = "optimization.started"
    ITERATION_STARTED = "iteration.started"
    ITERATION_DIRECTED = "iteration.directed"
    ITERATION_SCRIPTED = "iteration.scripted"
    ITERATION_COMPLETED = "iteration.completed"
    ITERATION_FAILED = "iteration.failed"
    SUBTASK_STARTED = "subtask.started"
    SUBTASK_COMPLETED = "subtask.completed"
    ESCALATION_REQUIRED = "escalation.required"
    ESCALATION_REMINDER = "escalation.reminder"
    ESCALATION_RESOLVED = "escalation.resolved"


FINAL_EVENT_TYPES = frozenset(
    {SprintEventType.RUN_CANCELLED, SprintEventType.WORKFLOW_COMPLETED, SprintEventType.WORKFLOW_FAILED}
)
"""After one of these nothing happens to the run any more."""


class Envelope(BaseModel):
    """What every event carries.

    `sequence` counts from 1 without gaps per run and is given by the store; 0 means *not stored yet*.
    For a sprint `sprint_id` equals `run_id`.
    """

    model_config = ConfigDict(frozen=True)

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


class RunCreatedEvent(Envelope):
    event: Literal[SprintEventType.RUN_CREATED] = SprintEventType.RUN_CREATED
    data: RunCreatedData


class RunCancelledEvent(Envelope):
    event: Literal[SprintEventType.RUN_CANCELLED] = SprintEventType.RUN_CANCELLED
    data: RunCancelledData


class RunPausedEvent(Envelope):
    event: Literal[SprintEventType.RUN_PAUSED] = SprintEventType.RUN_PAUSED
    data: RunPausedData


class RunResumedEvent(Envelope):
    event: Literal[SprintEventType.RUN_RESUMED] = SprintEventType.RUN_RESUMED
    data: RunResumedData


class WorkflowStartedEvent(Envelope):
    event: Literal[SprintEventType.WORKFLOW_STARTED] = SprintEventType.WORKFLOW_STARTED
    data: WorkflowStartedData


class WorkflowStatusEvent(Envelope):
    event: Literal[SprintEventType.WORKFLOW_STATUS] = SprintEventType.WORKFLOW_STATUS
    data: WorkflowStatusData


class WorkflowCompletedEvent(Envelope):
    event: Literal[SprintEventType.WORKFLOW_COMPLETED] = SprintEventType.WORKFLOW_COMPLETED
    data: WorkflowCompletedData


class WorkflowFailedEvent(Envelope):
    event: Literal[SprintEventType.WORKFLOW_FAILED] = SprintEventType.WORKFLOW_FAILED
    data: WorkflowFailedData


class PhaseStartedEvent(Envelope):
    event: Literal[SprintEventType.PHASE_STARTED] = SprintEventType.PHASE_STARTED
    data: PhaseStartedData


class PhaseCompletedEvent(Envelope):
    event: Literal[SprintEventType.PHASE_COMPLETED] = SprintEventType.PHASE_COMPLETED
    data: PhaseCompletedData


class PhaseFailedEvent(Envelope):
    event: Literal[SprintEventType.PHASE_FAILED] = SprintEventType.PHASE_FAILED
    data: PhaseFailedData


class AttemptStartedEvent(Envelope):
    event: Literal[SprintEventType.ATTEMPT_STARTED] = SprintEventType.ATTEMPT_STARTED
    data: AttemptStartedData


class AttemptProducedEvent(Envelope):
    event: Literal[SprintEventType.ATTEMPT_PRODUCED] = SprintEventType.ATTEMPT_PRODUCED
    data: AttemptProducedData


class AttemptInterruptedEvent(Envelope):
    event: Literal[SprintEventType.ATTEMPT_INTERRUPTED] = SprintEventType.ATTEMPT_INTERRUPTED
    data: AttemptInterruptedData


class AgentProgressEvent(Envelope):
    event: Literal[SprintEventType.AGENT_PROGRESS] = SprintEventType.AGENT_PROGRESS
    data: AgentProgressData


class AgentFailedEvent(Envelope):
    event: Literal[SprintEventType.AGENT_FAILED] = SprintEventType.AGENT_FAILED
    data: AgentFailedData


class ToolCalledEvent(Envelope):
    event: Literal[SprintEventType.TOOL_CALLED] = SprintEventType.TOOL_CALLED
    data: ToolData


class ToolResultEvent(Envelope):
    event: Literal[SprintEventType.TOOL_RESULT] = SprintEventType.TOOL_RESULT
    data: ToolData


class CandidateStartedEvent(Envelope):
    event: Literal[SprintEventType.CANDIDATE_STARTED] = SprintEventType.CANDIDATE_STARTED
    data: CandidateData


class CandidateGeneratedEvent(Envelope):
    event: Literal[SprintEventType.CANDIDATE_GENERATED] = SprintEventType.CANDIDATE_GENERATED
    data: CandidateData


class CandidateFailedEvent(Envelope):
    event: Literal[SprintEventType.CANDIDATE_FAILED] = SprintEventType.CANDIDATE_FAILED
    data: CandidateData


class JudgeStartedEvent(Envelope):
    event: Literal[SprintEventType.JUDGE_STARTED] = SprintEventType.JUDGE_STARTED
    data: JudgeStartedData


class JudgeDecidedEvent(Envelope):
    event: Literal[SprintEventType.JUDGE_DECIDED] = SprintEventType.JUDGE_DECIDED
    data: JudgeDecidedData


class EvaluationStartedEvent(Envelope):
    event: Literal[SprintEventType.EVALUATION_STARTED] = SprintEventType.EVALUATION_STARTED
    data: EvaluationStartedData


class EvaluatorCompletedEvent(Envelope):
    event: Literal[SprintEventType.EVALUATOR_COMPLETED] = SprintEventType.EVALUATOR_COMPLETED
    data: EvaluationData


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
        """Build the event that closes the evaluation of one attempt."""
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


class EvaluationFailedEvent(Envelope):
    event: Literal[SprintEventType.EVALUATION_FAILED] = SprintEventType.EVALUATION_FAILED
    data: EvaluationFailedData


class OptimizationStartedEvent(Envelope):
    event: Literal[SprintEventType.OPTIMIZATION_STARTED] = SprintEventType.OPTIMIZATION_STARTED
    data: OptimizationStartedData


class IterationStartedEvent(Envelope):
    event: Literal[SprintEventType.ITERATION_STARTED] = SprintEventType.ITERATION_STARTED
    data: IterationStartedData


class IterationDirectedEvent(Envelope):
    event: Literal[SprintEventType.ITERATION_DIRECTED] = SprintEventType.ITERATION_DIRECTED
    data: IterationDirectedData


class IterationScriptedEvent(Envelope):
    event: Literal[SprintEventType.ITERATION_SCRIPTED] = SprintEventType.ITERATION_SCRIPTED
    data: IterationScriptedData


class IterationCompletedEvent(Envelope):
    event: Literal[SprintEventType.ITERATION_COMPLETED] = SprintEventType.ITERATION_COMPLETED
    data: IterationCompletedData


class IterationFailedEvent(Envelope):
    event: Literal[SprintEventType.ITERATION_FAILED] = SprintEventType.ITERATION_FAILED
    data: IterationFailedData


class SubtaskStartedEvent(Envelope):
    event: Literal[SprintEventType.SUBTASK_STARTED] = SprintEventType.SUBTASK_STARTED
    data: SubtaskStartedData


class SubtaskCompletedEvent(Envelope):
    event: Literal[SprintEventType.SUBTASK_COMPLETED] = SprintEventType.SUBTASK_COMPLETED
    data: SubtaskCompletedData


class EscalationRequiredEvent(Envelope):
    event: Literal[SprintEventType.ESCALATION_REQUIRED] = SprintEventType.ESCALATION_REQUIRED
    data: EscalationRequiredData


class EscalationReminderEvent(Envelope):
    event: Literal[SprintEventType.ESCALATION_REMINDER] = SprintEventType.ESCALATION_REMINDER
    data: EscalationReminderData


class EscalationResolvedEvent(Envelope):
    event: Literal[SprintEventType.ESCALATION_RESOLVED] = SprintEventType.ESCALATION_RESOLVED
    data: EscalationResolvedData


Event = Annotated[
    RunCreatedEvent
    | RunCancelledEvent
    | RunPausedEvent
    | RunResumedEvent
    | WorkflowStartedEvent
    | WorkflowStatusEvent
    | WorkflowCompletedEvent
    | WorkflowFailedEvent
    | PhaseStartedEvent
    | PhaseCompletedEvent
    | PhaseFailedEvent
    | AttemptStartedEvent
    | AttemptProducedEvent
    | AttemptInterruptedEvent
    | AgentProgressEvent
    | AgentFailedEvent
    | ToolCalledEvent
    | ToolResultEvent
    | CandidateStartedEvent
    | CandidateGeneratedEvent
    | CandidateFailedEvent
    | JudgeStartedEvent
    | JudgeDecidedEvent
    | EvaluationStartedEvent
    | EvaluatorCompletedEvent
    | EvaluationCompletedEvent
    | EvaluationFailedEvent
    | OptimizationStartedEvent
    | IterationStartedEvent
    | IterationDirectedEvent
    | IterationScriptedEvent
    | IterationCompletedEvent
    | IterationFailedEvent
    | SubtaskStartedEvent
    | SubtaskCompletedEvent
    | EscalationRequiredEvent
    | EscalationReminderEvent
    | EscalationResolvedEvent,
    Field(discriminator="event"),
]
"""Any event, told apart by `event`."""

EVENT_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event)
"""Reads an event of any type and gives the JSON Schema of the union."""
