"""The results of a director-evaluator loop: results, iterations, and errors that keep all earlier data."""

from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.loop.subtasks import EvaluationRequest, SubtaskRequest
from app.schemas.runs import Usage


class TaskStatus(StrEnum):
    """What an agent reports: `CONTINUATION` requests something first, `WAITING` waits for a person."""

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
    """What a director requested in the middle of an iteration, and the result.

    Attributes:
        subtask_request: null if it requested an evaluation.
        evaluation_request: null if it requested a subtask.
        result: null if there is none yet, or if an error occurred.
        run_id: run of the subtask, if it is a separate run.
    """

    subtask_request: SubtaskRequest | None = None
    evaluation_request: EvaluationRequest | None = None
    result: TaskResult | None = None
    run_id: UUID | None = None


class GivenFile(_Result):
    """A file of the workspace in a director's context.

    Attributes:
        path: path in the workspace.
        chars: number of its characters that were included.
        whole: whether the file is complete, instead of passages from it.
        named: whether the definition's `file_paths` names it; otherwise it matched the description.
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
        """Return the sum of all parts; its cost is null if no part's cost is known."""
        return Usage.total(each for each in (self.director, self.evaluator, self.subtasks) if each)


class LoopIteration(_Result):
    """One iteration. If an error ended it early, missing parts are null.

    Attributes:
        iteration: from 1.
        context: what the director received in addition to its task and inputs.
        files: files of the workspace in the context.
        output: the director's output.
        notes: the director's notes.
        exchanges: subtasks and evaluations that the director requested, in order.
        evaluation: null if there was none.
        script_output: null if no script ran.
        condition_met: null without a termination condition.
        condition_trouble: why the condition could not be evaluated; it is then not met.
        times: durations of the parts.
        usage: consumption of the parts.
        turns: calls of agents, including those of subtasks.
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
    """Why a loop ended. `WAITING`: the loop needs a person."""

    SUCCESS = "success"
    CONDITION = "condition"
    MAXIMUM = "maximum"
    WAITING = "waiting"
    ERROR = "error"


class LoopResult(_Result):
    """The result of a loop.

    Attributes:
        final_output: output of the last iteration that has one; empty if none has.
        final_evaluation: evaluation of the last iteration that has one.
        success: what the last evaluation says, if no error came after it.
        iterations_completed: number of iterations that were evaluated.
        iteration_history: all iterations, in order.
        ended_by: why the loop ended.
        usage: consumption of all iterations.
        error: the error that ended the loop, if there was one.
    """

    final_output: str
    final_evaluation: LoopEvaluation | None
    success: bool
    iterations_completed: int
    iteration_history: list[LoopIteration]
    ended_by: LoopEnd
    usage: Usage = Usage()
    error: LoopError | None = Field(default=None, discriminator="type")
