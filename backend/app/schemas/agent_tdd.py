"""A task for one or several agents, and its result."""

import json
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from app.schemas.agent_script import AgentScript
from app.schemas.agents import MAX_CANDIDATES, MODEL_PATTERN, AgentBackend, AgentSpec
from app.schemas.runs import Phase
from app.schemas.text import clean_text

MAX_METADATA_CHARS = 20_000
SCRIPTED = "scripted"

_Text = Annotated[str, StringConstraints(min_length=1, max_length=100_000), AfterValidator(clean_text)]
_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class SubagentSpec(BaseModel):
    """One of the agents.

    Attributes:
        name: its name in the result; by default the agent's own name.
        provider: `anthropic`, `openai`, `openai-chat`, or `scripted` for a script.
        model: the provider's name for the model; or `provider:model`, without `provider`.
        script: the script that a scripted agent plays.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: _Name | None = None
    provider: _Name | None = None
    model: _Name | None = None
    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    system_prompt: _Text | None = None
    script: AgentScript | None = None

    @model_validator(mode="after")
    def _usable(self) -> Self:
        if (self.provider == SCRIPTED) != (self.script is not None):
            raise ValueError("script: is required with provider 'scripted' and not allowed with others")
        if self.provider not in (None, SCRIPTED) and self.model is None:
            raise ValueError(f"model: which one of provider {self.provider!r}?")
        self.agent_spec()
        return self

    def agent_spec(self) -> AgentSpec:
        """Return the same agent as the specification of a run."""
        model = self.model
        if model is not None and self.provider is not None:
            model = f"{self.provider}:{model}"
        return AgentSpec(
            backend=AgentBackend.SCRIPTED if self.script else AgentBackend.AUTO,
            model=model,
            temperature=self.temperature,
            system_prompt=self.system_prompt,
            script=self.script,
        )


class JudgeSpec(BaseModel):
    """The judge between candidates that the gates rate alike; without a model, the service's own judge."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: Annotated[str, StringConstraints(max_length=200, pattern=MODEL_PATTERN)] | None = None


class AgentTddRunCreate(BaseModel):
    """A task, and the agents that work on it.

    Attributes:
        message: the task, as the agents read it.
        workspace_ref: directory of the work; the chosen candidate's files are left there.
        metadata: returned unchanged.
        phase: the kind of work.
        subagents: the agents; if empty, one agent of the service's choice.
        judge: the judge between candidates; unused with one agent.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    message: _Text
    workspace_ref: Annotated[str, StringConstraints(min_length=1, max_length=4096)]
    metadata: dict[str, Any] = {}
    phase: Phase = Phase.CODING
    subagents: list[SubagentSpec] = Field(default=[], max_length=MAX_CANDIDATES)
    judge: JudgeSpec = JudgeSpec()

    @field_validator("metadata")
    @classmethod
    def _small_json(cls, value: dict[str, Any]) -> dict[str, Any]:
        try:
            size = len(json.dumps(value))
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError("must be JSON values") from error
        if size > MAX_METADATA_CHARS:
            raise ValueError(f"must be at most {MAX_METADATA_CHARS} characters of JSON")
        return value


class AgentToolCall(BaseModel):
    """A tool that an agent used; `result` is null if the work ended before there was one."""

    model_config = ConfigDict(frozen=True)

    tool: str
    arguments: str
    result: str | None = None


class AgentMetrics(BaseModel):
    """What a candidate consumed. An unknown cost is null, never zero; seconds are wall-clock time."""

    model_config = ConfigDict(frozen=True)

    requests: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0


class AgentTddCandidate(BaseModel):
    """The work of one agent; `error` is null if it finished."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    agent_name: str
    provider: str
    model: str | None
    output: str
    tool_calls: list[AgentToolCall]
    metrics: AgentMetrics
    error: str | None


class AgentTddDecision(BaseModel):
    """The chosen candidate; `score` is in [0, 1], and `model` is null if no model was asked."""

    model_config = ConfigDict(frozen=True)

    candidate_id: UUID
    score: float | None
    rationale: str
    model: str | None = None


class AgentTddRunResult(BaseModel):
    """The result: every candidate, including failed ones, and the decision."""

    model_config = ConfigDict(frozen=True)

    run_id: UUID
    user_id: str
    candidates: list[AgentTddCandidate]
    decision: AgentTddDecision
    metadata: dict[str, Any] = {}
