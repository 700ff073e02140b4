"""The check of an installed agent, with a small agent that asks the scripted model through the gateway."""

import sys
from pathlib import Path

import pytest

from app.agents.external.profile import AgentProfile
from app.agents.external.roster import InstalledAgents
from app.agents.port import AgentLimits
from app.services.local.agent_checks import AgentChecks
from app.workspaces.confine.agent_programs import AgentPrograms
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Sandbox
from tests.patience import PATIENCE
from tests.unit.agents.external.support import FakeGateway

pytestmark = pytest.mark.anyio

CLIENT = Path(__file__).parents[2] / "model_client_agent.py"


async def checked(argv: list[str]) -> dict[str, bool]:
    sandbox = Sandbox()
    if not (await sandbox.state()).confined:
        pytest.skip("no sandbox here")
    profile = AgentProfile.model_validate(
        {
            "driver": "command",
            "argv": argv,
            "readable": [str(CLIENT), *map(str, interpreter_paths(Path(sys.executable)))],
            "dialect": "openai-chat",
            "model": "some-model",
            "env": {"BASE_URL": "{base_url}", "TOKEN": "{token}", "MODEL": "{model}"},
        }
    )
    starter = AgentPrograms(sandbox)
    installed = InstalledAgents({"mine": profile}, [], FakeGateway(), starter, interpreter_paths, {})
    checks = AgentChecks(installed, sandbox, AgentLimits(seconds=PATIENCE))
    return {step.name: step.ok async for step in checks.check("mine")}


async def test_an_agent_that_works_passes() -> None:
    steps = await checked([sys.executable, "-I", str(CLIENT)])
    assert len(steps) == 10
    assert all(steps.values()), steps


async def test_an_agent_that_only_says_so_fails() -> None:
    steps = await checked([sys.executable, "-I", "-c", "print('All done.')"])
    assert steps["nothing left behind"]
    assert not steps["ended by itself"]
    assert not steps["file written"]
    assert not steps["usage metered"]


async def test_an_agent_that_is_missing_is_not_started() -> None:
    assert await checked(["/nowhere/agent"]) == {"installed": False, "confined": True}
