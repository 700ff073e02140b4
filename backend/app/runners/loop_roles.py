"""What the parts of a director-evaluator loop are asked, and the ports behind which they do their work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.schemas.loop_results import FailureReason, LoopEvaluation, Resource, ScriptOutput, TaskResult


@dataclass(frozen=True, slots=True)
class Trouble:
    """A part could not do its work. A value, not an exception: the loop ends and keeps what it has."""

    reason: FailureReason
    message: str


@dataclass(frozen=True, slots=True)
class Exhausted:
    """A part would use more than it may: `used` of `limit` turns, or characters of context or output."""

    resource: Resource
    used: int
    limit: int
    message: str


@dataclass(frozen=True, slots=True)
class RoleTask:
    """What a director or an evaluator is asked.

    Attributes:
        role: `director` or `evaluator`.
        iteration: from 1.
        description: what to do, with its placeholders filled.
        inputs: by name, in the order of the definition.
        context: what else it sees: inherited, fresh, and of earlier iterations; empty when nothing.
        model: `provider:model`, when the definition chooses one.
        system_prompt: when the definition brings one.
        evaluators: registered evaluators that are to judge instead of a model.
    """

    role: str
    iteration: int
    description: str
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    context: str = ""
    model: str | None = None
    system_prompt: str | None = None
    evaluators: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ScriptTask:
    """What is run: the words of a command, its standard input, and the seconds it may take."""

    argv: Sequence[str]
    stdin: str
    timeout: float


@dataclass(frozen=True, slots=True)
class ContextFile:
    """A file that a loop is shown."""

    path: str
    text: str


class Role(Protocol):
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
    ) -> Sequence[ContextFile] | Trouble:
        """Give the named files, and with `search` those that fit the description."""
        ...


def evaluation_of(result: TaskResult) -> LoopEvaluation:
    """Read an evaluator's notes.

    Raises:
        ValueError: they hold no `success` that is true or false, or no `feedback`.
    """
    return LoopEvaluation.model_validate(result.notes)
