"""Director-evaluator loops as the API speaks of them."""

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
        definition: the loop itself; the XML of one, as a text, is read as well.
        inputs: values of the task's inputs, by name.
        query: what the user asks; without it the input `user_query`, or the description.
        source: the files that scripts, evaluators and the search for context see; by default none.
        agent: the model of the director where the definition names none, or a script that plays both roles.
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
    """One iteration with what is recorded of its attempt.

    Attributes:
        status: how far it has come.
        started_at: the latest time its director was asked.
        completed_at: null until it is judged.
        lost_workers: workers that died on it; what was recorded before is not done again.
        consumed: by its agents.
    """

    status: AttemptState
    started_at: datetime
    completed_at: datetime | None
    lost_workers: int
    consumed: Usage


class LoopOutcome(BaseModel):
    """The result of a loop; `iterations` holds the history, including iterations before an error.

    Attributes:
        final_output: of the last iteration that has an output; empty when none has.
        final_evaluation: of the last iteration that has one.
        success: what the last evaluation says, if no error came after it.
        iterations_completed: iterations that were evaluated.
        ended_by: why there are no more; null when a person or a cancellation ended it.
        error: what ended the loop, when it was an error.
    """

    model_config = ConfigDict(frozen=True)

    final_output: str
    final_evaluation: LoopEvaluation | None
    success: bool
    iterations_completed: int
    ended_by: LoopEnd | None
    error: LoopError | None = None


class SubtaskNode(BaseModel):
    """A subtask of a loop, with those that it asked for itself, oldest first."""

    model_config = ConfigDict(frozen=True)

    run_id: UUID
    name: str
    status: RunStatus
    subtasks: list["SubtaskNode"]


class LoopDetail(RunView):
    """One loop with its iterations. `result` is null until the loop ends.

    `parent_run_id` is the loop whose director asked for this one; `subtasks` is the tree of those below it.
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
