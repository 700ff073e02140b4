"""What comes of a director-evaluator loop: results, iterations, and errors that lose nothing."""

from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.loop.subtasks import EvaluationRequest, SubtaskRequest
from app.schemas.runs import Usage


class TaskStatus(StrEnum):
    """What an agent reports: `CONTINUATION` asks for something first, `WAITING` for a person."""

    COMPLETE = "COMPLETE"
    CONTINUATION = "CONTINUATION"
    WAITING = "WAITING"
    FAILED = "FAILED"


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)


class TaskResult(_Result):
    """What one agent returns; `usage` is null if it asked no model."""

    content: str
    status: TaskStatus = TaskStatus.COMPLETE
    notes: dict[str, Any] = {}
    usage: Usage | None = None


class ScriptOutput(_Result):
    """A script's bounded output and its exit status; 128 + n means signal n."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = Field(alias="exitCode")


class EvaluationDetails(BaseModel):
    """Details of an evaluation; additional fields are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    metrics: dict[str, Any] | None = None
    violations: list[Any] | None = None
    suggestions: list[Any] | None = None


class LoopEvaluation(BaseModel):
    """The notes of an evaluator's result; `success` must be a boolean."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, serialize_by_alias=True)

    success: bool = Field(strict=True)
    feedback: str
    details: EvaluationDetails | None = None
    script_output: ScriptOutput | None = Field(default=None, alias="scriptOutput")


class Exchange(_Result):
    """What a director asked for in the middle of an iteration, and what came of it.

    Attributes:
        subtask_request: null when it asked for an evaluation.
        evaluation_request: null when it asked for a subtask.
        result: null when there is none yet, or an error came instead.
        run_id: of the subtask, where it is a separate run.
    """

    subtask_request: SubtaskRequest | None = None
    evaluation_request: EvaluationRequest | None = None
    result: TaskResult | None = None
    run_id: UUID | None = None


class GivenFile(_Result):
    """A file of the workspace in a director's context.

    Attributes:
        path: in the workspace.
        chars: of it that were shown.
        whole: the file, not passages of it.
        named: by the definition's `file_paths`; otherwise it fitted the description.
    """

    path: str
    chars: int
    whole: bool = True
    named: bool = False


class IterationTimes(_Result):
    """Milliseconds that each part took; null for a part that did not run."""

    director: int | None = None
    script: int | None = None
    evaluator: int | None = None


class IterationUsage(_Result):
    """What each part consumed; null for a part that asked no model. Evaluations count as the evaluator's."""

    director: Usage | None = None
    evaluator: Usage | None = None
    subtasks: Usage | None = None

    @property
    def total(self) -> Usage:
        """All parts together; its cost is null when that of no part is known."""
        return Usage.total(each for each in (self.director, self.evaluator, self.subtasks) if each)


class LoopIteration(_Result):
    """One iteration. If an error ended it early, missing parts are null.

    Attributes:
        iteration: from 1.
        context: what the director was given besides its task and its inputs.
        files: of the workspace that are in the context.
        output: the director's.
        notes: the director's.
        exchanges: subtasks and evaluations that the director asked for, in order.
        evaluation: null when there was none.
        script_output: null when no script ran.
        condition_met: null without a termination condition.
        condition_trouble: why the condition could not be asked; it is then not met.
        times: of the parts.
        usage: of the parts.
        turns: calls of agents, those of subtasks included.
    """

    iteration: int = Field(ge=1)
    context: str = ""
    files: list[GivenFile] = []
    output: str | None = None
    notes: dict[str, Any] = {}
    exchanges: list[Exchange] = []
    evaluation: LoopEvaluation | None = None
    script_output: ScriptOutput | None = Field(default=None, alias="scriptOutput")
    condition_met: bool | None = None
    condition_trouble: str = ""
    times: IterationTimes = IterationTimes()
    usage: IterationUsage = IterationUsage()
    turns: int = Field(default=0, ge=0)


Resource = Literal["turns", "context", "output"]


class FailureReason(StrEnum):
    """Why a task failed."""

    CONTEXT_RETRIEVAL_FAILURE = "context_retrieval_failure"
    CONTEXT_MATCHING_FAILURE = "context_matching_failure"
    CONTEXT_PARSING_FAILURE = "context_parsing_failure"
    XML_VALIDATION_FAILURE = "xml_validation_failure"
    OUTPUT_FORMAT_FAILURE = "output_format_failure"
    EXECUTION_TIMEOUT = "execution_timeout"
    EXECUTION_HALTED = "execution_halted"
    SUBTASK_FAILURE = "subtask_failure"
    INPUT_VALIDATION_FAILURE = "input_validation_failure"
    UNEXPECTED_ERROR = "unexpected_error"


class ErrorDetails(_Result):
    """What was completed before the error, including the iteration that it ended."""

    partial_results: list[LoopIteration] = Field(default=[], alias="partialResults")


class ResourceExhaustion(_Result):
    """A limit was reached: `used` of `limit` turns, or characters of context or output."""

    type: Literal["RESOURCE_EXHAUSTION"] = "RESOURCE_EXHAUSTION"
    resource: Resource
    used: int
    limit: int
    message: str
    details: ErrorDetails = ErrorDetails()


class TaskFailure(_Result):
    """A part of the loop failed."""

    type: Literal["TASK_FAILURE"] = "TASK_FAILURE"
    reason: FailureReason
    message: str
    details: ErrorDetails = ErrorDetails()


LoopError = ResourceExhaustion | TaskFailure


class LoopEnd(StrEnum):
    """Why a loop ended. `WAITING` is for a person."""

    SUCCESS = "success"
    CONDITION = "condition"
    MAXIMUM = "maximum"
    WAITING = "waiting"
    ERROR = "error"


class LoopResult(_Result):
    """What a loop came to.

    Attributes:
        final_output: of the last iteration that has an output; empty when none has.
        final_evaluation: of the last iteration that has one.
        success: what the last evaluation says, if no error came after it.
        iterations_completed: iterations that were evaluated.
        iteration_history: all of them, in order.
        ended_by: why there are no more.
        usage: of all iterations.
        error: what ended the loop, when it was an error.
    """

    final_output: str
    final_evaluation: LoopEvaluation | None
    success: bool
    iterations_completed: int
    iteration_history: list[LoopIteration]
    ended_by: LoopEnd
    usage: Usage = Usage()
    error: LoopError | None = Field(default=None, discriminator="type")
