"""The definition of a director-evaluator loop, read from XML or JSON, and its results."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from app.schemas.loop.condition import check_condition
from app.schemas.loop.contexts import ContextManagement, RoleContext, SubtaskContext
from app.schemas.loop.results import (
    LoopError,
    LoopEvaluation,
    LoopIteration,
    LoopResult,
    ResourceExhaustion,
    ScriptOutput,
    TaskFailure,
    TaskResult,
    TaskStatus,
)
from app.schemas.loop.xml import (
    MAX_BYTES,
    MAX_TEXT_CHARS,
    Location,
    LoopDefinitionError,
    ReadXml,
    read_loop_xml,
)
from app.schemas.text import CleanText, Name, RelativePath

__all__ = [
    "ContextManagement",
    "DirectorEvaluatorLoop",
    "LoopDefinitionError",
    "LoopError",
    "LoopEvaluation",
    "LoopIteration",
    "LoopResult",
    "ResourceExhaustion",
    "RoleContext",
    "RoleDefinition",
    "ScriptExecution",
    "ScriptOutput",
    "SubtaskContext",
    "TaskFailure",
    "TaskResult",
    "TaskStatus",
]

MAX_ITERATIONS = 100
SOURCES = frozenset(
    {
        *("user_query", "evaluation_feedback", "current_iteration"),
        *("director_result", "previous_results", "script_output"),
    }
)
"""Sources of inputs that the loop itself provides, in addition to the inputs of the task."""

ToolName = Literal["list_files", "read_file", "search"]

_Text = Annotated[CleanText, Field(min_length=1, max_length=MAX_TEXT_CHARS)]


def _command(value: str) -> str:
    if not shlex.split(value):
        raise ValueError("the command is empty")
    return value


class _Definition(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class NamedInput(_Definition):
    """An input of a role, and its source: the loop, or an input of the task."""

    name: Name
    source: Name = Field(alias="from")


class TaskInput(_Definition):
    """An input of the task. Without a value, it must be given when the loop starts."""

    name: Name
    value: CleanText | None = Field(default=None, max_length=MAX_TEXT_CHARS)


def _distinct(inputs: "tuple[NamedInput, ...] | tuple[TaskInput, ...]") -> Any:
    names = [each.name for each in inputs]
    repeated = sorted({each for each in names if names.count(each) > 1})
    if repeated:
        raise ValueError(f"the input {repeated[0]!r} is given twice")
    return inputs


_Inputs = Annotated[tuple[NamedInput, ...], Field(max_length=50), AfterValidator(_distinct)]


class RoleDefinition(_Definition):
    """A director or an evaluator: its task, its inputs, and optionally its model and instructions.

    With `tools`, its model can look into the workspace by itself. `evaluators` names registered evaluators
    that judge instead of a model; only an evaluator can have them.
    """

    description: _Text
    inputs: _Inputs = ()
    context_management: RoleContext = RoleContext()
    model: str | None = Field(default=None, min_length=3, max_length=200)
    system_prompt: _Text | None = None
    tools: tuple[ToolName, ...] = Field(default=(), max_length=10)
    evaluators: tuple[Name, ...] = Field(default=(), max_length=20)


class ScriptExecution(_Definition):
    """A program that runs on the director's output; `timeout` in seconds.

    The command is split into words like in a shell, but never passed to a shell. Its inputs fill `{{name}}`
    in the words. The input named `stdin` is its standard input, which is the director's output by default.
    """

    command: Annotated[_Text, AfterValidator(_command)]
    timeout: float = Field(default=300.0, gt=0.0, le=3600.0, allow_inf_nan=False)
    inputs: _Inputs = ()


class TerminationCondition(_Definition):
    """An expression over `evaluation`, `iteration`, `director` and `script`, such as `iteration >= 3`."""

    condition: Annotated[str, AfterValidator(check_condition)]


class DirectorEvaluatorLoop(_Definition):
    """A director proposes, a script may test, and an evaluator responds, until the evaluator is satisfied.

    With an `output_file`, the director's output is the content of that file in the workspace, for the script
    and for registered evaluators.
    """

    type: Literal["director_evaluator_loop"] = "director_evaluator_loop"
    description: _Text
    inputs: Annotated[tuple[TaskInput, ...], Field(max_length=50), AfterValidator(_distinct)] = ()
    max_iterations: int = Field(default=5, ge=1, le=MAX_ITERATIONS)
    context_management: ContextManagement = ContextManagement()
    file_paths: tuple[RelativePath, ...] = Field(default=(), max_length=100)
    output_file: RelativePath | None = Field(default=None, max_length=1000)
    director: RoleDefinition
    evaluator: RoleDefinition
    script_execution: ScriptExecution | None = None
    termination_condition: TerminationCondition | None = None

    @model_validator(mode="after")
    def _director_is_an_agent(self) -> "DirectorEvaluatorLoop":
        if self.director.evaluators:
            raise ValueError("a director has no `evaluators`")
        return self

    @classmethod
    def from_xml(cls, text: str | bytes) -> "DirectorEvaluatorLoop":
        """Read a definition in XML.

        Raises:
            LoopDefinitionError: it cannot be used; the error names line and element.
        """
        read = read_loop_xml(text)
        return _validated(read.values, read)

    @classmethod
    def from_json(cls, text: str | bytes) -> "DirectorEvaluatorLoop":
        """Read a definition in JSON.

        Raises:
            LoopDefinitionError: it cannot be used; the error names the field.
        """
        data = text.encode() if isinstance(text, str) else text
        if len(data) > MAX_BYTES:
            raise LoopDefinitionError(f"the definition has {len(data)} bytes; at most {MAX_BYTES} are read")
        try:
            return cls.model_validate_json(data)
        except ValidationError as error:
            raise _first_fault(error, None) from error


def _validated(values: Mapping[str, Any], read: ReadXml) -> DirectorEvaluatorLoop:
    try:
        return DirectorEvaluatorLoop.model_validate(values)
    except ValidationError as error:
        raise _first_fault(error, read) from error


def _first_fault(error: ValidationError, read: ReadXml | None) -> LoopDefinitionError:
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = fault["loc"]
    message = fault["msg"].removeprefix("Value error, ")
    return LoopDefinitionError(message, line=_line(place, read), element=_named(place))


def _line(place: Location, read: ReadXml | None) -> int | None:
    return read.line_of(place) if read else None


def _named(place: Sequence[str | int]) -> str:
    return "/".join(str(each + 1) if isinstance(each, int) else each for each in place)
