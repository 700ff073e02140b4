"""What a user asks for when an agent is to work: which backend, which model, or which script."""

import json
import re
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
    ValidationInfo,
    field_validator,
    model_validator,
)

from app.schemas.runs import Phase
from app.schemas.text import clean_text
from app.schemas.toml_text import read_toml

MAX_CANDIDATES = 8
MAX_SCRIPT_CHARS = 2_000_000
"""All text of one script together."""

MODEL_PATTERN = r"^[a-z][a-z0-9-]*:\S+$"

ScriptedStatus = Literal["COMPLETE", "CONTINUATION", "WAITING", "FAILED"]

OutputMode = Literal["auto", "tool", "native", "prompted"]
"""How a model is made to answer in a structure.

`auto` takes what suits the model best, as far as that is known. `tool` works with every hosted model.
`native` (constrained decoding) suits local servers whose tool calls fail, and some hosted models refuse it.
`prompted` asks in words: it works everywhere, and fails the most.
"""


PROFILE_NAME = r"^[a-z][a-z0-9-]{0,39}$"
"""The name of an installed agent's profile."""


class AgentBackend(StrEnum):
    """Who does the work. `AUTO` leaves the choice to the service's settings and configured keys."""

    AUTO = "auto"
    SCRIPTED = "scripted"
    PYDANTIC_AI = "pydantic-ai"


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
_SystemPrompt = Annotated[str, _text(50_000, 1), AfterValidator(clean_text)]
_ModelName = Annotated[str, StringConstraints(max_length=200, pattern=r"^\S+$")]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Edit(_Frozen):
    """An edit of one file. `path` is relative to the workspace, with `/`.

    Attributes:
        pause_seconds: how long to wait before the edit, so that people can watch a demonstration.
    """

    path: _Path
    pause_seconds: float = Field(default=0.0, ge=0.0, le=5.0)


class WriteEdit(_Edit):
    """Write a whole file; parent directories are made."""

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


ProfileName = Annotated[str, StringConstraints(pattern=PROFILE_NAME)]

AgentName = Annotated[AgentBackend | ProfileName, Field(union_mode="left_to_right")]
"""A backend of PhaseRunner, or the name of an installed agent's profile, such as `opencode`."""


class ScriptedRole(StrEnum):
    """The speaker of a step in the script of a loop or an answer."""

    DIRECTOR = "director"
    EVALUATOR = "evaluator"
    SYNTHESIZER = "synthesizer"


class ScriptStep(_Frozen):
    """What a scripted agent does in one attempt.

    Attributes:
        say: its final message; of a director or synthesizer what it writes, of an evaluator its feedback.
        status: of a director, what it says of its task.
        notes: of a role in a loop or an answer, what it says beside its text, such as `success`.
        edits: what it does to the files, in order.
        expects: strings the prompt must contain; without them the step does not play. So a script that mends
            what a reviewer or an evaluator said proves that it was told.
        progress: lines it reports before it starts.
    """

    say: _Message
    status: ScriptedStatus = "COMPLETE"
    notes: dict[str, JsonValue] = {}
    edits: list[ScriptEdit] = Field(default=[], max_length=100)
    expects: list[_Line] = Field(default=[], max_length=50)
    progress: list[_Line] = Field(default=[], max_length=50)

    @property
    def chars(self) -> int:
        """Size of all its text."""
        texts = [self.say, *self.expects, *self.progress, json.dumps(self.notes)]
        for edit in self.edits:
            texts += [value for value in edit.model_dump().values() if isinstance(value, str)]
        return sum(map(len, texts))


class AgentScript(_Frozen):
    """A recorded agent: attempt n of a phase plays step n, and the last step repeats.

    If step n expects nothing, a later step whose `expects` are all in the prompt comes first: so one script
    answers what a prompt says, in whatever order it is said.

    A role of a loop or an answer plays the last of its steps that have `expects` and receive all of it;
    when there is none, iteration n plays the nth of its steps without `expects`, and the last one repeats.
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
        """The step of attempt `attempt` (from 1), or None when the script says nothing about the phase."""
        steps = next((steps for name, steps in self.phases.items() if name == phase), None)
        if not steps:
            return None
        at = min(attempt, len(steps)) - 1
        later = [] if steps[at].expects else steps[at + 1 :]
        meant = (each for each in reversed(later) if each.expects and all(t in told for t in each.expects))
        return next(meant, steps[at])

    def spoken(self, role: ScriptedRole, iteration: int, told: str) -> ScriptStep | None:
        """What a role says in an iteration (from 1) in which it receives a message; None without one."""
        steps = self.phases.get(role, [])
        answers = [each for each in steps if each.expects and all(text in told for text in each.expects)]
        plain = [each for each in steps if not each.expects]
        if answers:
            return answers[-1]
        return plain[min(iteration, len(plain)) - 1] if plain else None


def _named_in_full(model: str | None, agent: AgentName | None) -> str | None:
    """Refuse a model without its provider, unless an installed agent's dialect names the provider.

    Raises:
        ValueError: the provider is missing.
    """
    is_installed = agent is not None and not isinstance(agent, AgentBackend)
    if model is not None and not is_installed and not re.match(MODEL_PATTERN, model):
        raise ValueError("must be written as provider:model")
    return model


class CandidateSpec(_Frozen):
    """One of several agents that work on each attempt side by side.

    Attributes:
        agent: `pydantic-ai`, or an installed agent by its profile's name.
        model: `provider:model`; an installed agent also takes the name alone. None is the agent's default.
    """

    agent: AgentName
    model: _ModelName | None = None

    @field_validator("agent")
    @classmethod
    def _has_no_script(cls, agent: AgentName) -> AgentName:
        if agent is AgentBackend.SCRIPTED:
            raise ValueError("a script works alone or with copies of itself: use a number of candidates")
        return agent

    @field_validator("model")
    @classmethod
    def _has_a_provider(cls, model: str | None, info: ValidationInfo) -> str | None:
        return _named_in_full(model, info.data.get("agent"))


_CandidateNumber = Annotated[int, Field(ge=1, le=MAX_CANDIDATES)]
_CandidateList = Annotated[list[CandidateSpec], Field(min_length=1, max_length=MAX_CANDIDATES)]


class AgentSpec(_Frozen):
    """The agent a run asks for.

    Attributes:
        backend: who works: a backend of PhaseRunner, or an installed agent by its profile's name.
        model: `provider:model`, such as `anthropic:claude-sonnet-4-20250514`; None is the service's default.
            An installed agent also takes the name alone.
        system_prompt: replaces the agent's own.
        script: what the scripted agent plays; belongs to backend `scripted` and to no other.
        candidates: how many agents work on each attempt, side by side; the gates choose between them. A list
            names them instead of `backend` and `model`.
    """

    backend: AgentName = AgentBackend.AUTO
    model: _ModelName | None = None
    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    system_prompt: _SystemPrompt | None = None
    script: AgentScript | None = None
    candidates: _CandidateNumber | _CandidateList = 1

    @field_validator("model")
    @classmethod
    def _has_a_provider(cls, model: str | None, info: ValidationInfo) -> str | None:
        return _named_in_full(model, info.data.get("backend"))

    @field_validator("script", mode="before")
    @classmethod
    def _may_be_toml(cls, script: object) -> object:
        # Forms send what people paste from script files.
        return read_toml(script)

    @model_validator(mode="after")
    def _script_belongs_to_backend(self) -> Self:
        if (self.backend is AgentBackend.SCRIPTED) != (self.script is not None):
            raise ValueError("script: is required with backend 'scripted', and goes with no other backend")
        if self.script is not None and self.model is not None:
            raise ValueError("model: a script is played without a model")
        if not isinstance(self.candidates, int) and (
            self.backend is not AgentBackend.AUTO or self.model is not None
        ):
            raise ValueError("candidates: a list names the agents, so backend and model must be absent")
        return self

    def each(self) -> list["AgentSpec"]:
        """Return the spec of each candidate, in their order."""
        if isinstance(self.candidates, int):
            return [self.model_copy(update={"candidates": 1})] * self.candidates
        return [
            self.model_copy(update={"backend": each.agent, "model": each.model, "candidates": 1})
            for each in self.candidates
        ]


def agent_label(spec: AgentSpec) -> str:
    """Who does the work, in words; a script says that it is one."""
    if spec.script is not None:
        return f"scripted (no model): {spec.script.title}"
    if not isinstance(spec.candidates, int):
        return ", ".join(map(agent_label, spec.each()))
    name = AgentBackend.PYDANTIC_AI if spec.backend is AgentBackend.AUTO else spec.backend
    return f"{name} {spec.model}" if spec.model else str(name)
