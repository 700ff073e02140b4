"""The actions of a recorded agent: edits, steps, and the script that contains them."""

import json
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    model_validator,
)

from app.schemas.runs import Phase
from app.schemas.text import clean_text

MAX_SCRIPT_CHARS = 2_000_000
"""The total size of all text in one script, in characters."""

ScriptedStatus = Literal["COMPLETE", "CONTINUATION", "WAITING", "FAILED"]


def _clean_path(value: str) -> str:
    cleaned = clean_text(value)
    if any(character in cleaned for character in "\n\t\\"):
        raise ValueError("must not contain a backslash, a tab or a line end")
    path = PurePosixPath(cleaned)
    if path.is_absolute():
        raise ValueError("must be relative to the workspace")
    if ".." in path.parts:
        raise ValueError("must not contain '..'")
    if not path.parts:
        raise ValueError("must name a file")
    if any(part.casefold() == ".git" for part in path.parts):
        raise ValueError("must not be inside .git")
    return str(path)


def _text(max_length: int, min_length: int = 0) -> StringConstraints:
    return StringConstraints(min_length=min_length, max_length=max_length)


_Path = Annotated[str, _text(1_000, 1), AfterValidator(_clean_path)]
_Content = Annotated[str, _text(500_000), AfterValidator(clean_text)]
_Snippet = Annotated[str, _text(100_000, 1), AfterValidator(clean_text)]
_Message = Annotated[str, _text(50_000, 1), AfterValidator(clean_text)]
_Line = Annotated[str, _text(2_000, 1), AfterValidator(clean_text)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class _Edit(_Frozen):
    """An edit of one file. `path` is relative to the workspace, with `/`.

    Attributes:
        pause_seconds: how long to wait before the edit, so that people can watch a demonstration.
    """

    path: _Path
    pause_seconds: float = Field(default=0.0, ge=0.0, le=5.0)


class WriteEdit(_Edit):
    """Write a complete file; parent directories are created."""

    kind: Literal["write"]
    content: _Content


class ReplaceEdit(_Edit):
    """Replace the only occurrence of `old` in a file."""

    kind: Literal["replace"]
    old: _Snippet
    new: _Content


class DeleteEdit(_Edit):
    """Delete a file."""

    kind: Literal["delete"]


ScriptEdit = Annotated[WriteEdit | ReplaceEdit | DeleteEdit, Field(discriminator="kind")]


class ScriptedRole(StrEnum):
    """The speaker of a step in the script of a loop or an answer."""

    DIRECTOR = "director"
    EVALUATOR = "evaluator"
    SYNTHESIZER = "synthesizer"


class ScriptStep(_Frozen):
    """What a scripted agent does in one attempt.

    Attributes:
        say: its final message; for a director or synthesizer the text that it writes, for
            an evaluator its feedback.
        status: for a director, what it reports about its task.
        notes: for a role in a loop or an answer, what it returns beside its text, such as `success`.
        edits: what it does to the files, in order.
        expects: strings that the prompt must contain, or the step does not play. So a script that fixes what
            a reviewer or an evaluator said proves that the agent received it.
        progress: lines that it reports before it starts.
    """

    say: _Message
    status: ScriptedStatus = "COMPLETE"
    notes: dict[str, JsonValue] = {}
    edits: list[ScriptEdit] = Field(default=[], max_length=100)
    expects: list[_Line] = Field(default=[], max_length=50)
    progress: list[_Line] = Field(default=[], max_length=50)

    @property
    def chars(self) -> int:
        """Return the size of all its text in characters."""
        texts = [self.say, *self.expects, *self.progress, json.dumps(self.notes)]
        for edit in self.edits:
            texts += [value for value in edit.model_dump().values() if isinstance(value, str)]
        return sum(map(len, texts))

    def is_meant_by(self, told: str) -> bool:
        """Return whether the step expects something and a message contains all of it."""
        return bool(self.expects) and all(each in told for each in self.expects)


class AgentScript(_Frozen):
    """A recorded agent: attempt n of a phase plays step n, and the last step repeats.

    If step n expects nothing, a later step whose `expects` are all in the prompt takes precedence, so that
    one script can answer what a prompt says, in any order.

    A role of a loop or an answer plays the last of its steps with `expects` that are all in the message. If
    there is none, iteration n plays the nth of its steps without `expects`, and the last one repeats.
    """

    title: Annotated[str, _text(200, 1), AfterValidator(clean_text)]
    phases: dict[Phase | ScriptedRole, Annotated[list[ScriptStep], Field(min_length=1, max_length=100)]] = (
        Field(min_length=1)
    )

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if sum(step.chars for steps in self.phases.values() for step in steps) > MAX_SCRIPT_CHARS:
            raise ValueError(f"a script holds at most {MAX_SCRIPT_CHARS} characters")
        return self

    def step(self, phase: str, attempt: int, told: str) -> ScriptStep | None:
        """Return the step of attempt `attempt` (from 1); None if the script has no steps for the phase."""
        steps = next((steps for name, steps in self.phases.items() if name == phase), None)
        if not steps:
            return None
        at = min(attempt, len(steps)) - 1
        later = [] if steps[at].expects else steps[at + 1 :]
        return next((each for each in reversed(later) if each.is_meant_by(told)), steps[at])

    def spoken(self, role: ScriptedRole, iteration: int, told: str) -> ScriptStep | None:
        """Return what a role says in an iteration (from 1) in reply to a message; None if it has no step."""
        steps = self.phases.get(role, [])
        answers = [each for each in steps if each.is_meant_by(told)]
        plain = [each for each in steps if not each.expects]
        if answers:
            return answers[-1]
        return plain[min(iteration, len(plain)) - 1] if plain else None
