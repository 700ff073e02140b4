"""Agents in the API: which are ready, and what the others lack."""

from typing import Literal

from pydantic import BaseModel, Field


class AgentView(BaseModel):
    """An agent that a run can ask for by name."""

    name: str
    kind: Literal["built-in", "scripted", "installed"] = Field(
        description="built-in asks a model, scripted plays a script, installed is a program of this machine"
    )
    ready: bool
    missing: str | None = Field(description="What to do before it can work")
    is_default: bool
    model: str | None = Field(description="Its model if a run names none")
    driver: str | None = Field(description="How an installed agent is driven: acp or command")
    dialect: str | None = Field(description="The interface through which an installed agent asks models")
    network: str | None = Field(description="What an installed agent reaches: gateway or machine")
    version: str | None = Field(description="Version of an installed agent's program")
    tried: str | None = Field(description="Version that the profile was tried with")


class AgentList(BaseModel):
    """The agents: first PhaseRunner's own, then installed ones by name."""

    items: list[AgentView]
