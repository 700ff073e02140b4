"""Events of loops: `iteration.*` and `subtask.*`."""

from typing import ClassVar, Literal
from uuid import UUID

from app.core.events.envelope import Envelope, TypedEventData
from app.core.events.types import SprintEventType


class IterationStartedData(TypedEventData):
    """An iteration of a loop starts, or restarts under the same number after its worker died."""

    event_type: ClassVar[SprintEventType] = SprintEventType.ITERATION_STARTED
    iteration: int
    max_iterations: int


class IterationStartedEvent(Envelope):
    event: Literal[SprintEventType.ITERATION_STARTED] = SprintEventType.ITERATION_STARTED
    data: IterationStartedData


class IterationDirectedData(TypedEventData):
    """The director's output, cut at 2,000 characters; `status` is what it reports about its task."""

    event_type: ClassVar[SprintEventType] = SprintEventType.ITERATION_DIRECTED
    iteration: int
    status: str
    output: str
    milliseconds: int | None = None


class IterationDirectedEvent(Envelope):
    event: Literal[SprintEventType.ITERATION_DIRECTED] = SprintEventType.ITERATION_DIRECTED
    data: IterationDirectedData


class IterationScriptedData(TypedEventData):
    """The script's result: the ends of its streams, at most 2,000 characters each."""

    event_type: ClassVar[SprintEventType] = SprintEventType.ITERATION_SCRIPTED
    iteration: int
    exit_code: int
    stdout: str
    stderr: str
    milliseconds: int | None = None


class IterationScriptedEvent(Envelope):
    event: Literal[SprintEventType.ITERATION_SCRIPTED] = SprintEventType.ITERATION_SCRIPTED
    data: IterationScriptedData


class IterationCompletedData(TypedEventData):
    """An iteration was evaluated; `condition_met` is null if the loop has no termination condition."""

    event_type: ClassVar[SprintEventType] = SprintEventType.ITERATION_COMPLETED
    iteration: int
    success: bool
    feedback: str
    condition_met: bool | None = None
    condition_trouble: str = ""
    milliseconds: int | None = None


class IterationCompletedEvent(Envelope):
    event: Literal[SprintEventType.ITERATION_COMPLETED] = SprintEventType.ITERATION_COMPLETED
    data: IterationCompletedData


class IterationFailedData(TypedEventData):
    """An execution error ended an iteration early; the names are those of the documented error types."""

    event_type: ClassVar[SprintEventType] = SprintEventType.ITERATION_FAILED
    iteration: int
    type: str
    reason: str
    message: str


class IterationFailedEvent(Envelope):
    event: Literal[SprintEventType.ITERATION_FAILED] = SprintEventType.ITERATION_FAILED
    data: IterationFailedData


class SubtaskStartedData(TypedEventData):
    """A director asked for a subtask, a separate run; the description is cut at 2,000 characters.

    `depth` is 1 for a subtask of a loop that is not a subtask itself.
    """

    event_type: ClassVar[SprintEventType] = SprintEventType.SUBTASK_STARTED
    iteration: int
    subtask_run_id: UUID
    description: str
    depth: int


class SubtaskStartedEvent(Envelope):
    event: Literal[SprintEventType.SUBTASK_STARTED] = SprintEventType.SUBTASK_STARTED
    data: SubtaskStartedData


class SubtaskCompletedData(TypedEventData):
    """A subtask has ended, and its director continues; `output` is cut at 2,000 characters.

    `success` is null if an error, a person or a cancellation ended the subtask, which also ends this loop.
    """

    event_type: ClassVar[SprintEventType] = SprintEventType.SUBTASK_COMPLETED
    iteration: int
    subtask_run_id: UUID
    success: bool | None
    output: str


class SubtaskCompletedEvent(Envelope):
    event: Literal[SprintEventType.SUBTASK_COMPLETED] = SprintEventType.SUBTASK_COMPLETED
    data: SubtaskCompletedData


IterationEvent = (
    IterationStartedEvent
    | IterationDirectedEvent
    | IterationScriptedEvent
    | IterationCompletedEvent
    | IterationFailedEvent
    | SubtaskStartedEvent
    | SubtaskCompletedEvent
)
"""Any event of this topic."""
