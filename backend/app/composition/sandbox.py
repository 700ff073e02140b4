"""Builds the confinement of the workspaces' programs from the settings; part of the composition root."""

import os
import shlex
from collections.abc import Awaitable, Callable, Mapping

from app.core.config import Settings
from app.schemas.modes import ConfinementKind
from app.workspaces.confine.bubblewrap import SandboxLimits
from app.workspaces.confine.confinement import ContainerSettings, SandboxSettings
from app.workspaces.confine.container.engine import find_engine
from app.workspaces.confine.egress import EgressRules, hosts_of
from app.workspaces.confine.running import SandboxUnavailableError
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.uv_words import uv_variables

_ENGINE_VARIABLES = ("HOME", "PATH", "XDG_", "DOCKER_", "CONTAINER_HOST", "CONTAINERS_", "DBUS_")


def build_sandbox(settings: Settings) -> Sandbox:
    """Build the confinement of the workspaces' programs."""
    limits = SandboxLimits(
        memory_bytes=settings.SANDBOX_MEMORY_BYTES,
        temporary_bytes=settings.SANDBOX_TEMPORARY_BYTES,
        processes=settings.SANDBOX_PROCESSES,
        file_bytes=settings.SANDBOX_FILE_BYTES,
    )
    return Sandbox(
        SandboxSettings(
            settings.SANDBOX,
            limits,
            tuple(settings.SANDBOX_READABLE),
            settings.SANDBOX_CGROUP,
            _egress_rules(settings, os.environ),  # noqa: TID251 - proxies, and addresses of package indexes
            settings.CONFINEMENT,
            container_settings(settings, os.environ),  # noqa: TID251 - where the engine's server is
        )
    )


def container_removal(settings: Settings) -> Callable[[str], Awaitable[int]] | None:
    """Return a function that removes the containers of a dead process; None if containers are not used."""
    if settings.CONFINEMENT is not ConfinementKind.CONTAINER:
        return None
    containers = container_settings(settings, os.environ)  # noqa: TID251 - where the engine's server is

    async def remove(owner: str) -> int:
        try:
            return await (await find_engine(containers)).remove_all_of(owner)
        except SandboxUnavailableError:
            return 0  # a broken sandbox is reported where one is needed

    return remove


def container_settings(settings: Settings, environ: Mapping[str, str]) -> ContainerSettings:
    """Return the settings of the container engine, with only its variables and without the service's keys."""
    given = {name: value for name, value in environ.items() if name.startswith(_ENGINE_VARIABLES)}
    return ContainerSettings(tuple(shlex.split(settings.CONTAINER_ENGINE)), settings.CONTAINER_IMAGE, given)


def _egress_rules(settings: Settings, environ: Mapping[str, str]) -> EgressRules:
    """Return the egress rules: programs with a network may reach the operator's private package indexes."""
    indexes = [each for value in uv_variables(environ).values() for each in value.split() if "://" in each]
    proxies = [environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")]
    upstream = next((each for each in proxies if each), None)
    own = hosts_of([upstream] if upstream else [])
    return EgressRules(hosts_of([*indexes, *settings.SANDBOX_EGRESS_ALLOW]) - own, upstream)
