"""Makes what confines the workspaces' programs, from the settings; part of the composition root."""

import os
from collections.abc import Mapping

from app.core.config import Settings
from app.workspaces.confine.bubblewrap import SandboxLimits
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.egress import EgressRules, hosts_of
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.uv_words import uv_variables


def build_sandbox(settings: Settings) -> Sandbox:
    """Make what confines the workspaces' programs."""
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
        )
    )


def _egress_rules(settings: Settings, environ: Mapping[str, str]) -> EgressRules:
    """The package indexes of the operator may have private addresses; programs with a network reach them."""
    indexes = [each for value in uv_variables(environ).values() for each in value.split() if "://" in each]
    proxies = [environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")]
    upstream = next((each for each in proxies if each), None)
    own = hosts_of([upstream] if upstream else [])
    return EgressRules(hosts_of([*indexes, *settings.SANDBOX_EGRESS_ALLOW]) - own, upstream)
