"""Builds what lists and checks agents, without a server or database; part of the composition root."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from app.agents.port import AgentLimits
from app.composition.judging import owned_directory
from app.composition.tools import build_tools
from app.core.config import Settings
from app.schemas.api.agents import AgentList
from app.services.access.agents import AgentService
from app.services.local.agent_checks import AgentChecks


async def list_agents(settings: Settings) -> AgentList:
    """Return the agents that this machine's settings allow, with their state."""
    tools = build_tools(settings)
    return await AgentService(tools.agents, tools.sandbox).all()


@asynccontextmanager
async def agent_checks(settings: Settings, seconds: float) -> AsyncGenerator[AgentChecks]:
    """Yield the checks of installed agents; each task of a check may take `seconds`."""
    async with owned_directory(settings):
        tools = build_tools(settings)
        installed = tools.agents.installed
        assert installed is not None  # noqa: S101 - the composition always sets it
        limits = AgentLimits(seconds=seconds, start_seconds=settings.AGENT_START_SECONDS)
        yield AgentChecks(installed, tools.sandbox, limits)
