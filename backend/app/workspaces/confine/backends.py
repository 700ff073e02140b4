"""Chooses the confinement backend: the operator's choice, or bubblewrap."""

import shutil

from app.schemas.modes import ConfinementKind
from app.workspaces.confine.backend import ConfinementBackend
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.container.launching import ContainerBackend
from app.workspaces.confine.launching import BubblewrapBackend
from app.workspaces.confine.seatbelt import SeatbeltBackend

_PATH = "/usr/local/bin:/usr/bin:/bin"


def backend_for(settings: SandboxSettings, program: str | None = None) -> ConfinementBackend:
    """Return the confinement backend.

    Args:
        settings: the operator's settings.
        program: path of bubblewrap, if it is not the installed one.
    """
    kind = settings.kind or ConfinementKind.BUBBLEWRAP
    if kind is ConfinementKind.CONTAINER:
        return ContainerBackend(settings)
    if kind is ConfinementKind.SEATBELT:
        return SeatbeltBackend(settings)
    return BubblewrapBackend(settings, program or shutil.which("bwrap", path=_PATH))
