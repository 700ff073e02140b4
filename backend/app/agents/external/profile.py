"""The profile of an installed agent: its command line, its prompt and its output."""

import re
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from app.agents.gateway_port import Dialect
from app.schemas.agents import AgentBackend, ProfileName

PLACEHOLDERS = frozenset(
    {"base_url", "home", "model", "package", "prompt", "prompt_file", "session", "token", "workspace"}
)
"""The words in braces that a profile may use; see `AgentProfile`."""

_WORD = re.compile(r"\{([a-z][a-z_]*)\}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OWN_VARIABLES = frozenset({"HOME", "PATH", "TMPDIR"})


class DriverKind(StrEnum):
    """How to drive an agent: over the Agent Client Protocol, or as a command that runs once."""

    ACP = "acp"
    COMMAND = "command"


class PromptBy(StrEnum):
    """How a command gets its prompt."""

    STDIN = "stdin"
    ARGUMENT = "argument"
    FILE = "file"


class OutputFormat(StrEnum):
    """The output format of a command."""

    CLAUDE = "claude-stream-json"
    CODEX = "codex-jsonl"
    TEXT = "text"


class NetworkPolicy(StrEnum):
    """What an agent reaches: only the model gateway, or public addresses with its vendor login."""

    GATEWAY = "gateway"
    MACHINE = "machine"


def fill(text: str, values: dict[str, str]) -> str:
    """Replace each known word in braces. All other braces stay."""
    return _WORD.sub(lambda found: values.get(found[1], found[0]), text)


def _argument(value: str) -> str:
    if "\0" in value:
        raise ValueError("must not contain a NUL character")
    for word in _WORD.findall(value):
        if word not in PLACEHOLDERS:
            raise ValueError(f"{{{word}}} is not known; known are {', '.join(sorted(PLACEHOLDERS))}")
    return value


def _environment(value: dict[str, str]) -> dict[str, str]:
    for name in value:
        if not _VARIABLE.fullmatch(name):
            raise ValueError(f"{name!r} is not the name of an environment variable")
        if name in _OWN_VARIABLES:
            raise ValueError(f"{name} is set by PhaseRunner")
    return value


def _below_home(value: str) -> str:
    path = PurePosixPath(value.removeprefix("{home}/"))
    if not value.startswith("{home}/") or ".." in path.parts or not path.parts:
        raise ValueError(f"{value!r} must be a path that begins with {{home}}/")
    return value


def _files(value: dict[str, str]) -> dict[str, str]:
    for name in value:
        _below_home(name)
    return value


def _glob(value: str) -> str:
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts or not path.parts or path.parts[0] in ("*", "**"):
        raise ValueError("must be a pattern of names inside the workspace that are the agent's alone")
    return value


_Line = Annotated[str, StringConstraints(min_length=1, max_length=2_000), AfterValidator(_argument)]
_Text = Annotated[str, StringConstraints(max_length=100_000)]
_Value = Annotated[str, StringConstraints(max_length=10_000), AfterValidator(_argument)]
_Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_Glob = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_glob)]


class AgentProfile(BaseModel):
    """The profile of one agent. Words in braces are replaced in `argv`, `env`, `readable` and `files`:

    `{home}` its home directory, `{workspace}` the workspace, `{base_url}` the gateway's address in the form
    that clients of the dialect expect, `{token}` the token that replaces the provider's key, `{model}` the
    model, `{prompt}` and `{prompt_file}` the prompt, `{package}` the directory in which the program is
    installed.

    Attributes:
        driver: how to drive the agent.
        resume: the command line that continues the conversation `{session}`; only for commands.
        argv: the program and its arguments. A program without a directory is searched for in AGENTS_PATH and
            PATH.
        package: its package, `npm:NAME` or `pypi:NAME`, which tells how to install it and which version is
            installed.
        tried: the version with which this profile was tried.
        prompt: how a command gets its prompt.
        output: the output format of a command.
        dialect: the interface through which it asks models.
        model: its model if the run names none.
        models: further models that it may ask for; `*` stands for any characters.
        env: environment variables.
        files: files to write before it starts, from `{home}/...` to their content.
        readable: further directories and files that it may read.
        needs: further programs that it starts, such as node.
        auth: method of authentication to request before a session; only for ACP.
        mode: mode to set in its sessions; only for ACP.
        idle_seconds: how long it may neither produce output nor ask a model.
        leavings: patterns of files that it leaves in the workspace; they are removed after its work.
        network: what it reaches.
        login: path below `{home}` of the login directory that AGENT_LOGINS names for it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    driver: DriverKind
    argv: list[_Line] = Field(min_length=1, max_length=100)
    resume: list[_Line] | None = Field(default=None, min_length=1, max_length=100)
    package: Annotated[str, StringConstraints(pattern=r"^(npm|pypi):[A-Za-z0-9@/._-]{1,200}$")] | None = None
    tried: _Name | None = None
    prompt: PromptBy = PromptBy.STDIN
    output: OutputFormat = OutputFormat.TEXT
    dialect: Dialect
    model: _Name | None = None
    models: list[_Name] = Field(default=[], max_length=20)
    env: Annotated[dict[str, _Value], AfterValidator(_environment)] = Field(default={}, max_length=100)
    files: Annotated[dict[str, _Text], AfterValidator(_files)] = Field(default={}, max_length=50)
    readable: list[_Line] = Field(default=[], max_length=50)
    needs: list[_Name] = Field(default=[], max_length=10)
    auth: _Name | None = None
    mode: _Name | None = None
    idle_seconds: float = Field(default=600.0, gt=0.0, le=86_400.0)
    leavings: list[_Glob] = Field(default=[], max_length=20)
    network: NetworkPolicy = NetworkPolicy.GATEWAY
    login: Annotated[str, StringConstraints(max_length=200), AfterValidator(_below_home)] | None = None

    @property
    def asks_its_vendor(self) -> bool:
        """True if it asks its vendor's models directly, without the gateway."""
        return self.network is NetworkPolicy.MACHINE

    @model_validator(mode="after")
    def _fits_driver(self) -> Self:
        given = self.model_fields_set
        wrong = {"output", "prompt", "resume"} if self.driver is DriverKind.ACP else {"auth", "mode"}
        if misplaced := sorted(wrong & given):
            raise ValueError(f"{misplaced[0]}: has no meaning with the driver {self.driver}")
        if self.driver is DriverKind.COMMAND:
            word = {PromptBy.ARGUMENT: "{prompt}", PromptBy.FILE: "{prompt_file}"}.get(self.prompt)
            if word is not None and not any(word in each for each in self.argv):
                raise ValueError(f"argv: with prompt {self.prompt!r} one argument must hold {word}")
        self._check_resume()
        self._check_network()
        return self

    def _check_network(self) -> None:
        if self.login is not None:
            if not self.asks_its_vendor:
                raise ValueError('login: has a meaning with network = "machine" alone')
            for name in self.files:
                if PurePosixPath(name).is_relative_to(self.login):
                    raise ValueError(f"files: {name} would be written into the login directory")
        if self.asks_its_vendor:
            texts = (*self.argv, *(self.resume or ()), *self.env.values(), *self.files.values())
            for word in ("{base_url}", "{token}"):
                if any(word in each for each in texts):
                    raise ValueError(f'network: with "machine" there is no gateway and no {word}')

    def _check_resume(self) -> None:
        if self.resume is None:
            return
        if not any("{session}" in each for each in self.resume):
            raise ValueError("resume: one argument must hold {session}")
        if self.resume[0] != self.argv[0]:
            raise ValueError("resume: must start the same program as argv")


class AgentsFile(BaseModel):
    """A file of profiles, with a table `[agents.NAME]` for each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agents: dict[ProfileName, AgentProfile] = {}

    @field_validator("agents")
    @classmethod
    def _names_are_free(cls, agents: dict[str, AgentProfile]) -> dict[str, AgentProfile]:
        if taken := sorted(agents.keys() & set(AgentBackend)):
            raise ValueError(f"{taken[0]} is the name of an agent of PhaseRunner")
        return agents
