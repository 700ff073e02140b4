"""Builds the choice of a workspace's interpreter from the settings; part of the composition root."""

import os
from pathlib import Path

from uv import find_uv_bin

from app.core.config import Settings
from app.runners.evaluators.commands.programs import Programs
from app.schemas.modes import EnvironmentMode
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.extensions.building import Extensions
from app.workspaces.environments.installing import Installer
from app.workspaces.environments.interpreters import Interpreters, OneInterpreter, WorkspaceEnvironments
from app.workspaces.environments.launches import InstallOptions
from app.workspaces.environments.setup import Setups, setup_variables
from app.workspaces.environments.shelf import Shelf, ShelfLimits
from app.workspaces.environments.uv_words import search_variables, uv_variables


def build_interpreters(settings: Settings, sandbox: Sandbox) -> Interpreters:
    """Build the choice of a workspace's interpreter."""
    if settings.WORKSPACE_PYTHON is not None or settings.WORKSPACE_ENVIRONMENTS is EnvironmentMode.OFF:
        return OneInterpreter(settings.WORKSPACE_PYTHON)
    data_dir = settings.DATA_DIR.absolute()
    return WorkspaceEnvironments(
        Shelf(data_dir / "environments", _bounds(settings)),
        Installer(Path(find_uv_bin()), sandbox, data_dir / "uv-cache", _options(settings)),
        search_variables(os.environ),  # noqa: TID251 - where to look for Python versions
        settings.ENVIRONMENT_CANDIDATE_DEPENDENCIES,
    )


def build_extensions(settings: Settings, sandbox: Sandbox) -> Extensions | None:
    """Build what compiles the modules of projects; None if environments are prepared by the operator."""
    if settings.WORKSPACE_PYTHON is not None or settings.WORKSPACE_ENVIRONMENTS is EnvironmentMode.OFF:
        return None
    shelf = Shelf(settings.DATA_DIR.absolute() / "extensions", _bounds(settings))
    return Extensions(shelf, Path(find_uv_bin()), sandbox, _options(settings))


def build_setups(settings: Settings, sandbox: Sandbox, programs: Programs) -> Setups:
    """Build the set-ups of projects; `programs` finds the programs that they run."""
    return Setups(
        Shelf(settings.DATA_DIR.absolute() / "setups", _bounds(settings)),
        sandbox,
        programs.variable,
        programs.readable,
        setup_variables(os.environ),  # noqa: TID251 - registries and certificates, for downloads
    )


def _options(settings: Settings) -> InstallOptions:
    return InstallOptions(
        network=settings.ENVIRONMENT_NETWORK,
        build=settings.ENVIRONMENT_BUILD,
        seconds=settings.ENVIRONMENT_TIMEOUT,
        env=uv_variables(os.environ),  # noqa: TID251 - indexes, proxies and certificates, for downloads
        cache_size=settings.ENVIRONMENT_MAX_BYTES,
    )


def _bounds(settings: Settings) -> ShelfLimits:
    return ShelfLimits(settings.ENVIRONMENT_MAX_BYTES, settings.ENVIRONMENT_MAX_DAYS * 86_400)
