"""Builds the evaluation of local directories without the parts of a service, so that it starts quickly."""

import logging
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from app.composition.judging_tools import JudgingTools, build_judging_tools
from app.composition.sandbox import container_removal
from app.core.config import Settings
from app.runners.phase_panel import PhasePanel
from app.services.local.evaluations import EvaluationService
from app.workspaces.confine.ownership import Places, owning, remove_leftovers
from app.workspaces.files.removal import remove_tree

logger = logging.getLogger(__name__)

ABOUT_THE_AGENT = ("agent_claim", "plan_artifact")
"""Evaluators that judge an agent's messages; without an agent they have nothing to judge."""


@asynccontextmanager
async def evaluation_service(settings: Settings) -> AsyncGenerator[EvaluationService]:
    """Yield the service that judges workspaces, without a server or database."""
    async with owned_directory(settings):
        yield build_evaluations(build_judging_tools(settings, one_shot=True))


def build_evaluations(tools: JudgingTools, *, at_once: int | None = None) -> EvaluationService:
    """Build the service that judges workspaces without agents."""
    registry = tools.registry.without(ABOUT_THE_AGENT)

    return EvaluationService(
        PhasePanel(registry, tools.rules),
        tools.policy,
        tools.git,
        tools.sources,
        tools.limits,
        tools.registry.describe(),
        at_once,
        tools.held_out,
        tools.sandbox.state,
    )


@asynccontextmanager
async def owned_directory(settings: Settings) -> AsyncGenerator[Path]:
    """Yield a directory that this process owns while one command runs, without touching DATA_DIR."""
    places = Places((Path(tempfile.gettempdir()),), settings.SANDBOX_CGROUP, container_removal(settings))
    with owning(places) as (own,):
        await remove_what_is_left(places)
        try:
            yield own
        finally:
            with anyio.CancelScope(shield=True):
                await remove_tree(own)


async def remove_what_is_left(places: Places) -> None:
    """Remove what killed processes left behind, and log how much it was."""
    try:
        found = await remove_leftovers(places)
    except OSError as error:
        logger.warning("cannot look for what dead processes left: %s", error)
        return
    if found:
        logger.warning(
            "removed what killed processes had left: %d processes, %d control groups, %d directories",
            found.processes,
            found.groups,
            found.directories,
        )
