"""The tasks of a loop's parts, and the ports that the parts implement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from app.agents.port import FailureKind
from app.schemas.loop.results import FailureReason, LoopEvaluation, Resource, ScriptOutput, TaskResult
from app.schemas.runs import Usage


@dataclass(frozen=True, slots=True)
class Trouble:
    """A part could not do its work. This is a value, not an exception: the loop ends and keeps what it has.

    `usage` is what the part consumed nevertheless. `kind` says why its model was unavailable, if it was, and
    `retry_at` when the provider's limit ends.
    """

    reason: FailureReason
    message: str
    usage: Usage | None = None
    kind: FailureKind | None = None
    retry_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Exhausted:
    """A part would exceed a limit: `used` of `limit` turns, or characters of context or output."""

    resource: Resource
    used: int
    limit: int
    message: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class RoleTask:
    """The task of a director or an evaluator.

    Attributes:
        role: `director` or `evaluator`.
        iteration: counts from 1.
        description: what to do, with its placeholders filled.
        goal: the loop's description, with its placeholders filled.
        given: the loop's inputs by name, and the user's query if it differs from the goal.
        inputs: the role's inputs by name, in the definition's order.
        context: what else the role sees: inherited, fresh, or from earlier iterations; may be empty.
        model: `provider:model`, if the definition chooses one.
        system_prompt: set if the definition has one.
        tools: names of the tools that the model may use.
        evaluators: registered evaluators that judge instead of a model.
        output: the director's output, if it is to be judged.
        files: the workspace files that hold the output, by path.
    """

    role: str
    iteration: int
    description: str
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    context: str = ""
    model: str | None = None
    system_prompt: str | None = None
    tools: Sequence[str] = ()
    evaluators: Sequence[str] = ()
    output: str = ""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    goal: str = ""
    given: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def assignment(self) -> str:
        """The goal and the role's description; one text if they are equal."""
        parts = [self.goal, self.description] if self.goal != self.description else [self.goal]
        return "\n\n".join(each for each in parts if each)

    @property
    def material(self) -> Mapping[str, str]:
        """The role's inputs, and the loop's inputs that are not among them."""
        return {**{name: text for name, text in self.given.items() if name not in self.inputs}, **self.inputs}


@dataclass(frozen=True, slots=True)
class ScriptTask:
    """The run of a script: the words of its command, its standard input, and its time limit in seconds.

    `files` are written into its directory first, by path.
    """

    argv: Sequence[str]
    stdin: str
    timeout: float
    files: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class ContextFile:
    """A file that a loop is shown.

    `whole` is false if only passages are; `named` is true if the definition names it.
    """

    path: str
    text: str
    whole: bool = True
    named: bool = False


class LoopRole(Protocol):
    """An agent that directs or evaluates."""

    async def __call__(self, task: RoleTask) -> TaskResult | Trouble | Exhausted:
        """Do the task."""
        ...


class Script(Protocol):
    """Runs programs on a director's output."""

    async def __call__(self, task: ScriptTask) -> ScriptOutput | Trouble:
        """Run a program to its end. An exit status other than 0 is no trouble: the evaluator judges it."""
        ...


class Files(Protocol):
    """Finds the workspace files for a loop."""

    async def __call__(
        self, description: str, paths: Sequence[str], *, search: bool
    ) -> Sequence[ContextFile] | Trouble | Exhausted:
        """Return the named files and, with `search`, those that match the description."""
        ...


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """Limits of one loop: calls of director and evaluator, and characters of one context or output."""

    turns: int = 2 * 100
    context_chars: int = 400_000
    output_chars: int = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopParts:
    """The parts that do a loop's work.

    Attributes:
        director: proposes.
        evaluator: judges.
        script: runs the script of a definition; None where nothing can be run.
        files: finds the files of a workspace; None without one.
        limits: the limits of each loop.
    """

    director: LoopRole
    evaluator: LoopRole
    script: Script | None = None
    files: Files | None = None
    limits: LoopLimits = field(default_factory=LoopLimits)


def evaluation_of(result: TaskResult) -> LoopEvaluation:
    """Read an evaluation from an evaluator's notes.

    Raises:
        ValueError: `success` is not true or false, or `feedback` is missing.
    """
    return LoopEvaluation.model_validate(result.notes)
