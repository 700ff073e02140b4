"""The prompts of a loop's parts, and the ports behind which they work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from app.agents.port import FailureKind
from app.schemas.loop.results import FailureReason, LoopEvaluation, Resource, ScriptOutput, TaskResult
from app.schemas.runs import Usage


@dataclass(frozen=True, slots=True)
class Trouble:
    """A part could not do its work. A value, not an exception: the loop ends and keeps what it has.

    `usage` is what it consumed all the same. `kind` says why its model was out, if it was, and `retry_at`
    when the provider's limit ends.
    """

    reason: FailureReason
    message: str
    usage: Usage | None = None
    kind: FailureKind | None = None
    retry_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Exhausted:
    """A part would use more than it may: `used` of `limit` turns, or characters of context or output."""

    resource: Resource
    used: int
    limit: int
    message: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class RoleTask:
    """What a director or an evaluator is asked.

    Attributes:
        role: `director` or `evaluator`.
        iteration: from 1.
        description: what to do, with its placeholders filled.
        goal: the loop's own description, with its placeholders filled.
        given: inputs of the loop by name, and the user's query where it differs from the goal.
        inputs: by name, in the order of the definition.
        context: what else it sees: inherited, fresh, and of earlier iterations; empty when nothing.
        model: `provider:model`, when the definition chooses one.
        system_prompt: when the definition brings one.
        tools: names of those that its model may use.
        evaluators: registered evaluators that are to judge instead of a model.
        output: the director's, when it is to be judged.
        files: of the workspace whose content the output is, by path.
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
        """The goal and what to do for it, each once."""
        parts = [self.goal, self.description] if self.goal != self.description else [self.goal]
        return "\n\n".join(each for each in parts if each)

    @property
    def material(self) -> Mapping[str, str]:
        """The inputs of the role, and what the loop was given besides."""
        return {**{name: text for name, text in self.given.items() if name not in self.inputs}, **self.inputs}


@dataclass(frozen=True, slots=True)
class ScriptTask:
    """What is run: the words of a command, its standard input, and the seconds it may take.

    `files` are put into its directory first, by path.
    """

    argv: Sequence[str]
    stdin: str
    timeout: float
    files: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class ContextFile:
    """A file that a loop is shown; `whole` unless only passages of it are, `named` by the definition."""

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
    """Runs programs on what a director gives."""

    async def __call__(self, task: ScriptTask) -> ScriptOutput | Trouble:
        """Run one to its end. An exit status other than 0 is no trouble: the evaluator judges it."""
        ...


class Files(Protocol):
    """Finds the files of a workspace that a loop is shown."""

    async def __call__(
        self, description: str, paths: Sequence[str], *, search: bool
    ) -> Sequence[ContextFile] | Trouble | Exhausted:
        """Return the named files, and with `search` those that fit the description."""
        ...


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """Bounds on one loop: calls of director and evaluator, and characters that one call sees or gives."""

    turns: int = 2 * 100
    context_chars: int = 400_000
    output_chars: int = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopParts:
    """Those who do the work of loops.

    Attributes:
        director: proposes.
        evaluator: judges.
        script: runs what a definition wants to have run; None where nothing can be run.
        files: finds the files of a workspace; None without one.
        limits: of each loop.
    """

    director: LoopRole
    evaluator: LoopRole
    script: Script | None = None
    files: Files | None = None
    limits: LoopLimits = field(default_factory=LoopLimits)


def evaluation_of(result: TaskResult) -> LoopEvaluation:
    """Read an evaluator's notes.

    Raises:
        ValueError: they hold no `success` that is true or false, or no `feedback`.
    """
    return LoopEvaluation.model_validate(result.notes)
