"""A gateway that meters nothing, a command that misbehaves as it is asked to, and agents made of both."""

import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from app.agents.external.agent import ExternalAgent
from app.agents.external.installed import Installed
from app.agents.external.profile import AgentProfile
from app.agents.gateway_port import GatewayFailure, GatewayGrant
from app.agents.port import AgentLimits, AgentTask, AgentUsage
from app.schemas.modes import SandboxMode
from app.workspaces.confine.agent_programs import AgentPrograms
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Sandbox
from tests.patience import PATIENCE

COMMAND = Path(__file__).with_name("scripted_command.py")
ACP_AGENT = Path(__file__).with_name("scripted_acp_agent.py")
PYTHON = Path(sys.executable)


@dataclass
class Endpoint:
    """An endpoint that leads nowhere."""

    told: GatewayFailure | None = None
    metered: AgentUsage = field(default_factory=lambda: AgentUsage(requests=1, input_tokens=5))
    socket: Path | None = None
    url: str | None = "http://127.0.0.1:9"
    token: str = "stands-for-the-key"
    last_activity: float = field(default_factory=time.monotonic)

    def usage(self) -> AgentUsage:
        """What is given as metered."""
        return self.metered

    def failure(self) -> GatewayFailure | None:
        """What is given as the last failure."""
        return self.told


@dataclass
class FakeGateway:
    """Opens one endpoint, and remembers what was granted."""

    endpoint: Endpoint = field(default_factory=Endpoint)
    grants: list[GatewayGrant] = field(default_factory=list)
    error: Exception | None = None
    open_now: int = 0

    @asynccontextmanager
    async def open(self, grant: GatewayGrant) -> AsyncGenerator[Endpoint]:
        """Give the endpoint."""
        if self.error is not None:
            raise self.error
        self.grants.append(grant)
        self.open_now += 1
        try:
            yield self.endpoint
        finally:
            self.open_now -= 1


def unconfined() -> Sandbox:
    """A sandbox that the operator switched off."""
    return Sandbox(SandboxSettings(mode=SandboxMode.OFF))


def command_profile(**fields: object) -> AgentProfile:
    """A profile of the scripted command."""
    usual: dict[str, object] = {
        "driver": "command",
        "argv": ["scripted"],
        "output": "codex-jsonl",
        "dialect": "openai-responses",
        "env": {"MODEL_TOKEN": "{token}", "BASE_URL": "{base_url}"},
    }
    return AgentProfile.model_validate(usual | fields)


def agent_of(
    profile: AgentProfile,
    gateway: FakeGateway | None = None,
    sandbox: Sandbox | None = None,
    script: Path = COMMAND,
) -> ExternalAgent:
    """An agent whose program is a script in Python."""
    argv = [profile.argv[0], "-I", str(script), *profile.argv[1:]]
    resume = profile.resume and [profile.resume[0], "-I", str(script), *profile.resume[1:]]
    places = interpreter_paths(PYTHON)
    return ExternalAgent(
        "scripted-command",
        profile.model_copy(update={"argv": argv, "resume": resume}),
        Installed(PYTHON, PYTHON.parent, (), (*places, script), "1.0"),
        "some-model",
        gateway or FakeGateway(),
        AgentPrograms(sandbox or unconfined()),
        interpreter_paths,
    )


def task_of(workspace: Path, prompt: str, *, seconds: float = PATIENCE, **fields: object) -> AgentTask:
    """A task in a workspace."""
    return AgentTask("coding", 1, prompt, workspace, AgentLimits(seconds=seconds), **fields)  # type: ignore[arg-type]
