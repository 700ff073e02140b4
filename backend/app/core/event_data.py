"""The payloads of events: what `data` holds for each type."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from app.schemas.runs import Usage


class EventData(BaseModel):
    """Payload of an event. Reads like a mapping too (`data["phase"]`), as on the wire."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __getitem__(self, name: str) -> Any:
        if name not in type(self).model_fields:
            raise KeyError(name)
        return getattr(self, name)


class ForkOriginData(EventData):
    """The attempt whose commit a run began with."""

    run_id: UUID
    phase: str
    attempt: int
    commit: str


class RunCreatedData(EventData):
    kind: str
    name: str
    goal: str
    phases: list[str]
    max_attempts: int
    agent: str
    scripted: bool
    source: str
    base_commit: str
    forked_from: ForkOriginData | None = None


class WorkflowStartedData(EventData):
    phases: list[str]


class WorkflowStatusData(EventData):
    status: str
    reason: str = ""


class WorkflowCompletedData(EventData):
    commit: str | None
    attempts: int
    usage: Usage
    reason: str = ""


class WorkflowFailedData(EventData):
    reason: str
    by: str | None = None


class RunCancelledData(EventData):
    by: str
    reason: str = ""


class RunPausedData(EventData):
    by: str
    reason: str = ""


class RunResumedData(EventData):
    by: str


class PhaseStartedData(EventData):
    max_attempts: int


class PhaseCompletedData(EventData):
    attempts: int
    commit: str | None
    accepted_by: str | None = None


class PhaseFailedData(EventData):
    reason: str


class AttemptStartedData(EventData):
    prompt_chars: int
    base_commit: str
    resumed: bool = False


class AttemptProducedData(EventData):
    commit: str
    output: str
    changed_files: list[str]
    dropped: list[str] = []
    fixed: list[str] = []
    usage: Usage
    agent: str
    model: str | None = None


class AttemptInterruptedData(EventData):
    reason: str
    lost_workers: int


class ProgressLine(EventData):
    text: str
    at: datetime


class AgentProgressData(EventData):
    lines: list[ProgressLine]
    candidate: int = 0


class AgentFailedData(EventData):
    kind: str
    message: str
    failures: int
    retry_in_seconds: float | None


class ToolData(EventData):
    tool: str
    text: str
    candidate: int = 0


class CandidateData(EventData):
    candidate: int
    agent: str
    provider: str
    model: str | None = None
    error: str | None = None


class JudgeStartedData(EventData):
    candidates: list[int]


class JudgeDecidedData(EventData):
    """Which candidate is taken. Without a score no model chose; `order` is how a model was shown them."""

    candidate: int
    score: float | None = None
    rationale: str = ""
    model: str | None = None
    order: list[int] = []
    seed: int | None = None


class EvaluationStartedData(EventData):
    evaluators: list[str]


class EvaluationData(EventData):
    """One evaluator's verdict, as dashboards need it."""

    evaluator_name: str
    category: str
    passed: bool
    score: float
    feedback: str
    suggestions: list[str] = []
    status: str | None = None
    gate: bool | None = None
    duration_ms: int | None = None


class EvaluationCompletedData(EventData):
    phase: str
    attempt: int
    overall_passed: bool
    evaluations: list[EvaluationData]
    score: float | None = None
    reason: str = ""


class EvaluationFailedData(EventData):
    """The panel reached no verdict; the evaluation is repeated or a human is asked."""

    reason: str
    evaluators: list[str]
    failures: int
    retry_in_seconds: float | None


class OptimizationStartedData(EventData):
    next_attempt: int
    issues: list[str]
    guidance: list[str] = []


class EscalationRequiredData(EventData):
    escalation_id: UUID
    reason_kind: str
    reason: str


class EscalationReminderData(EventData):
    """A question is still open: the reminder's number from 1, and for how long a human has been asked."""

    escalation_id: UUID
    reason_kind: str
    reason: str
    reminder: int
    waiting_seconds: int


class EscalationResolvedData(EventData):
    escalation_id: UUID
    decision: str
    decided_by: str
    guidance: str = ""
    additional_attempts: int = 0
    open_paths: list[str] = []


class IterationStartedData(EventData):
    """An iteration of a loop begins, or begins again under the same number after its worker died."""

    iteration: int
    max_iterations: int


class IterationDirectedData(EventData):
    """What the director gave, cut at 2,000 characters; `status` is what it says of its task."""

    iteration: int
    status: str
    output: str
    milliseconds: int | None = None


class IterationScriptedData(EventData):
    """What the script came to; the ends of its streams, at most 2,000 characters each."""

    iteration: int
    exit_code: int
    stdout: str
    stderr: str
    milliseconds: int | None = None


class IterationCompletedData(EventData):
    """An iteration was evaluated; `condition_met` is null without a condition to stop."""

    iteration: int
    success: bool
    feedback: str
    condition_met: bool | None = None
    condition_trouble: str = ""
    milliseconds: int | None = None


class SubtaskStartedData(EventData):
    """A director asked for a subtask, which is a run of its own; the description is cut at 2,000 characters.

    `depth` is 1 for the subtask of a loop that no other asked for.
    """

    iteration: int
    subtask_run_id: UUID
    description: str
    depth: int


class SubtaskCompletedData(EventData):
    """A subtask is over, and the director that asked goes on; `output` is cut at 2,000 characters.

    `success` is null when an error, a human or a cancellation ended it, which ends this loop, too.
    """

    iteration: int
    subtask_run_id: UUID
    success: bool | None
    output: str


class IterationFailedData(EventData):
    """An execution error cut an iteration short, in the words of the documented taxonomy."""

    iteration: int
    type: str
    reason: str
    message: str
