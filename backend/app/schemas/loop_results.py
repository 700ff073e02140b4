"""What comes of a director-evaluator loop: results, iterations, and errors that lose nothing."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class TaskStatus(StrEnum):
    """What an agent says of its task. `CONTINUATION` asks for something first, `WAITING` for a human."""

    COMPLETE = "COMPLETE"
    CONTINUATION = "CONTINUATION"
    WAITING = "WAITING"
    FAILED = "FAILED"


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)


class TaskResult(_Result):
    """What one agent gives back."""

    content: str
    status: TaskStatus = TaskStatus.COMPLETE
    notes: dict[str, Any] = {}


class ScriptOutput(_Result):
    """What a script printed, bounded, and its exit status; 128 + n is signal n."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = Field(alias="exitCode")


class EvaluationDetails(BaseModel):
    """Particulars of an evaluation; further fields are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    metrics: dict[str, Any] | None = None
    violations: list[Any] | None = None
    suggestions: list[Any] | None = None


class LoopEvaluation(BaseModel):
    """The notes of an evaluator's result; `success` is a truth, not a word for one."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, serialize_by_alias=True)

    success: bool = Field(strict=True)
    feedback: str
    details: EvaluationDetails | None = None
    script_output: ScriptOutput | None = Field(default=None, alias="scriptOutput")


class IterationTimes(_Result):
    """Milliseconds that each part took; null for a part that did not run."""

    director: int | None = None
    script: int | None = None
    evaluator: int | None = None


class LoopIteration(_Result):
    """One iteration, also one that an error cut short: then what it lacks is null.

    Attributes:
        iteration: from 1.
        context: what the director was given besides its task and its inputs.
        output: the director's.
        notes: the director's.
        evaluation: null when there was none.
        script_output: null when no script ran.
        condition_met: null without a termination condition.
        condition_trouble: why the condition could not be asked; it is then not met.
        times: of the parts.
    """

    iteration: int = Field(ge=1)
    context: str = ""
    output: str | None = None
    notes: dict[str, Any] = {}
    evaluation: LoopEvaluation | None = None
    script_output: ScriptOutput | None = Field(default=None, alias="scriptOutput")
    condition_met: bool | None = None
    condition_trouble: str = ""
    times: IterationTimes = IterationTimes()


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
    """What was completed before the error, the iteration it cut short included."""

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
    """A part of the loop could not do its work."""

    type: Literal["TASK_FAILURE"] = "TASK_FAILURE"
    reason: FailureReason
    message: str
    details: ErrorDetails = ErrorDetails()


LoopError = ResourceExhaustion | TaskFailure


class LoopEnd(StrEnum):
    """Why a loop ended. `WAITING` is for a human."""

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
        error: what ended the loop, when it was an error.
    """

    final_output: str
    final_evaluation: LoopEvaluation | None
    success: bool
    iterations_completed: int
    iteration_history: list[LoopIteration]
    ended_by: LoopEnd
    error: LoopError | None = Field(default=None, discriminator="type")
