"""The types of events: every value that an envelope's `event` can have."""

from enum import StrEnum


class SprintEventType(StrEnum):
    """Every value of an envelope's `event`."""

    RUN_CREATED = "run.created"
    RUN_CANCELLED = "run.cancelled"
    RUN_PAUSED = "run.paused"
    RUN_RESUMED = "run.resumed"
    BUDGET_WARNING = "budget.warning"
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
    AGENT_MESSAGE = "agent.message"
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
    BASELINE_COMPLETED = "baseline.completed"
    HELD_OUT_CHECKED = "held_out.checked"
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
    ESCALATION_ASSIGNED = "escalation.assigned"
    ESCALATION_RESOLVED = "escalation.resolved"


FINAL_EVENT_TYPES = frozenset(
    {SprintEventType.RUN_CANCELLED, SprintEventType.WORKFLOW_COMPLETED, SprintEventType.WORKFLOW_FAILED}
)
"""The types of a run's last event: no other event of the run follows it."""
