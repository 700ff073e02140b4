"""The agent that a user asks for: which backend, which model, or which script."""

import re
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from app.schemas.agent_script import AgentScript
from app.schemas.text import clean_text
from app.schemas.toml_text import read_toml

MAX_CANDIDATES = 8

MODEL_PATTERN = r"^[a-z][a-z0-9-]*:\S+$"

OutputMode = Literal["auto", "tool", "native", "prompted"]
"""How a model is made to return structured output.

`auto` chooses what is known to suit the model best. `tool` works with every hosted model. `native`
(constrained decoding) suits local servers whose tool calls fail, and some hosted models refuse it. `prompted`
asks in the prompt: it works with every model and fails most often.
"""


PROFILE_NAME = r"^[a-z][a-z0-9-]{0,39}$"
"""The name of an installed agent's profile."""


class AgentBackend(StrEnum):
    """The agent's backend. `AUTO` leaves the choice to the service's settings and configured keys."""

    AUTO = "auto"
    SCRIPTED = "scripted"
    PYDANTIC_AI = "pydantic-ai"


def _text(max_length: int, min_length: int = 0) -> StringConstraints:
    return StringConstraints(min_length=min_length, max_length=max_length)


_SystemPrompt = Annotated[str, _text(50_000, 1), AfterValidator(clean_text)]
_ModelName = Annotated[str, StringConstraints(max_length=200, pattern=r"^\S+$")]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def _profile_name(name: str) -> str:
    if not re.fullmatch(PROFILE_NAME, name):
        raise ValueError("must be small letters, digits and -, and begin with a letter")
    return name


ProfileName = Annotated[
    str, AfterValidator(_profile_name), WithJsonSchema({"type": "string", "pattern": PROFILE_NAME})
]


def _kind_of_agent(name: object) -> str:
    return "backend" if name in tuple(AgentBackend) else "profile"


def _overlap(schema: dict[str, Any]) -> None:
    # The names of backends also match the pattern of profile names, so the schema must not say `oneOf`.
    schema["anyOf"] = schema.pop("oneOf")


# Only one kind is tried, so that an error is about the value and not about a choice between types.
AgentName = Annotated[
    Annotated[AgentBackend, Tag("backend")] | Annotated[ProfileName, Tag("profile")],
    Discriminator(_kind_of_agent),
    Field(json_schema_extra=_overlap),
]
"""A backend of PhaseRunner, or the name of an installed agent's profile, such as `opencode`."""


def _named_in_full(model: str | None, agent: AgentName | None) -> str | None:
    """Refuse a model without its provider, unless an installed agent's dialect implies the provider.

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
        model: `provider:model`; an installed agent also accepts the name alone. None is the agent's default.
    """

    agent: AgentName
    model: _ModelName | None = None

    @field_validator("agent")
    @classmethod
    def _has_no_script(cls, agent: AgentName) -> AgentName:
        if agent is AgentBackend.SCRIPTED:
            raise ValueError("a script cannot work beside other agents: set candidates to a number")
        return agent

    @field_validator("model")
    @classmethod
    def _has_a_provider(cls, model: str | None, info: ValidationInfo) -> str | None:
        return _named_in_full(model, info.data.get("agent"))


def _kind_of_candidates(given: object) -> str:
    return "list" if isinstance(given, list) else "number"


_CandidateNumber = Annotated[int, Field(ge=1, le=MAX_CANDIDATES), Tag("number")]
_CandidateList = Annotated[list[CandidateSpec], Field(min_length=1, max_length=MAX_CANDIDATES), Tag("list")]


class AgentSpec(_Frozen):
    """The agent that a run asks for.

    Attributes:
        backend: a backend of PhaseRunner, or an installed agent by its profile's name.
        model: `provider:model`, such as `anthropic:claude-sonnet-4-20250514`; None is the service's default.
            An installed agent also accepts the name alone.
        system_prompt: replaces the agent's own.
        script: what the scripted agent plays; allowed only with backend `scripted`, which requires it.
        candidates: how many agents work on each attempt, side by side; the gates choose between them. A list
            names them instead of `backend` and `model`.
    """

    backend: AgentName = AgentBackend.AUTO
    model: _ModelName | None = None
    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    system_prompt: _SystemPrompt | None = None
    script: AgentScript | None = None
    candidates: Annotated[_CandidateNumber | _CandidateList, Discriminator(_kind_of_candidates)] = 1

    @field_validator("model")
    @classmethod
    def _has_a_provider(cls, model: str | None, info: ValidationInfo) -> str | None:
        return _named_in_full(model, info.data.get("backend"))

    @field_validator("script", mode="before")
    @classmethod
    def _may_be_toml(cls, script: object) -> object:
        # Forms send text that people paste from script files.
        return read_toml(script)

    @model_validator(mode="after")
    def _script_belongs_to_backend(self) -> Self:
        if (self.backend is AgentBackend.SCRIPTED) != (self.script is not None):
            raise ValueError("script: is required with backend 'scripted' and not allowed with others")
        if self.script is not None and self.model is not None:
            raise ValueError("model: a script is played without a model")
        if not isinstance(self.candidates, int) and (
            self.backend is not AgentBackend.AUTO or self.model is not None
        ):
            raise ValueError("candidates: a list names the agents, so backend and model must be absent")
        return self

    def each(self) -> list["AgentSpec"]:
        """Return the spec of each candidate, in order."""
        if isinstance(self.candidates, int):
            return [self.model_copy(update={"candidates": 1})] * self.candidates
        return [
            self.model_copy(update={"backend": each.agent, "model": each.model, "candidates": 1})
            for each in self.candidates
        ]

    def with_default(self, agent: AgentName) -> "AgentSpec":
        """Return the spec with an installed agent if it names none, so that records name the agent."""
        is_open = self.backend is AgentBackend.AUTO and isinstance(self.candidates, int)
        if not is_open or isinstance(agent, AgentBackend):
            return self
        return self.model_copy(update={"backend": agent})


def agent_label(spec: AgentSpec) -> str:
    """Return the name of the agent, in words; a script is described as one."""
    if spec.script is not None:
        return f"scripted (no model): {spec.script.title}"
    if not isinstance(spec.candidates, int):
        return ", ".join(map(agent_label, spec.each()))
    name = AgentBackend.PYDANTIC_AI if spec.backend is AgentBackend.AUTO else spec.backend
    return f"{name} {spec.model}" if spec.model else str(name)
