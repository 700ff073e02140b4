"""Director-evaluator loops in the API."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.agents import AgentSpec
from app.schemas.api.escalations import EscalationView
from app.schemas.api.policies import PolicyView
from app.schemas.api.runs import Name, RunView
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop.results import LoopEnd, LoopError, LoopEvaluation, LoopIteration
from app.schemas.runs import AttemptState, Budget, RunStatus, Usage
from app.schemas.text import CleanText
from app.schemas.text import Name as InputName
from app.schemas.workspaces import EmptySource, WorkspaceSource

MAX_INPUT_CHARS = 50_000

_Value = Annotated[CleanText, Field(max_length=MAX_INPUT_CHARS)]


class LoopCreate(BaseModel):
    """What a loop needs to start.

    Attributes:
        definition: the loop's definition; a string is read as XML.
        inputs: values of the task's inputs, by name.
        query: the user's request; by default the input `user_query`, or else the description.
        source: the files that scripts, evaluators and the search for context see; by default none.
        agent: the director's model if the definition names none, or a script that plays both roles.
        budget: what the loop and its subtasks may consume.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    definition: DirectorEvaluatorLoop
    inputs: dict[InputName, _Value] = Field(default={}, max_length=100)
    query: _Value = ""
    name: Name | None = None
    source: WorkspaceSource = EmptySource()
    agent: AgentSpec = AgentSpec()
    budget: Budget | None = None


class IterationView(LoopIteration):
    """One iteration with the records of its attempt.

    Attributes:
        status: how far it has come.
        started_at: the last time that its director was asked.
        completed_at: null until it is judged.
        lost_workers: workers that died during it; what was recorded before is not done again.
        consumed: what its agents consumed.
    """

    status: AttemptState
    started_at: datetime
    completed_at: datetime | None
    lost_workers: int
    consumed: Usage


class LoopOutcome(BaseModel):
    """The result of a loop; `iterations` holds the history, including iterations before an error.

    Attributes:
        final_output: output of the last iteration that has one; empty if none has.
        final_evaluation: evaluation of the last iteration that has one.
        success: what the last evaluation says, if no error came after it.
        iterations_completed: number of iterations that were evaluated.
        ended_by: why the loop ended; null if a person or a cancellation ended it.
        error: the error that ended the loop, if there was one.
    """

    model_config = ConfigDict(frozen=True)

    final_output: str
    final_evaluation: LoopEvaluation | None
    success: bool
    iterations_completed: int
    ended_by: LoopEnd | None
    error: LoopError | None = None


class SubtaskNode(BaseModel):
    """A subtask of a loop, with the subtasks that it requested itself, oldest first."""

    model_config = ConfigDict(frozen=True)

    run_id: UUID
    name: str
    status: RunStatus
    subtasks: list["SubtaskNode"]


class LoopDetail(RunView):
    """One loop with its iterations. `result` is null until the loop ends.

    `parent_run_id` is the loop whose director requested this one; `subtasks` is the tree of those below it.
    """

    definition: DirectorEvaluatorLoop
    inputs: dict[str, str]
    query: str
    policy: PolicyView
    iterations: list[IterationView]
    result: LoopOutcome | None
    escalations: list[EscalationView]
    parent_run_id: UUID | None = None
    subtasks: list[SubtaskNode]
