"""Describes what a confined program may reach, the operator's choice, and whether confinement works."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from app.schemas.modes import ConfinementKind, SandboxMode
from app.workspaces.confine.bubblewrap import SandboxLimits
from app.workspaces.confine.egress import EgressRules

GATEWAY_PORT = 8017
"""Port on the loopback inside the sandbox that leads to the gateway's socket."""


class Network(Enum):
    """What a confined program may reach besides its private loopback.

    `NONE`: nothing. `PUBLIC`: public addresses over HTTP and HTTPS, through a proxy named in its environment.
    `HOST`: everything that this machine reaches, this service included; only for the operator's programs.
    """

    NONE = "none"
    PUBLIC = "public"
    HOST = "host"

    @classmethod
    def public_if(cls, granted: bool) -> "Network":
        """Return `PUBLIC` if a network was granted, else `NONE`."""
        return cls.PUBLIC if granted else cls.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """What a confined program may reach besides the system's directories, each at its usual place.

    If this service runs as root, the program runs as another user: that user becomes the owner of writable
    paths, and all users must be able to read the readable ones.

    Attributes:
        writable: directories or files that it may change.
        readable: directories or files that it may read. One below a writable directory stays read-only.
        network: what it may reach besides its private loopback.
        home: a writable directory that becomes its `HOME`; None means an empty one that is removed with the
            program.
        gateway: a unix socket that it reaches on its loopback at `GATEWAY_PORT`. If this service runs as
            root,
            the program's user becomes the owner of the socket and of its directory.
        image: container image that replaces the machine's system directories, if containers confine the
            program.
    """

    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    network: Network = Network.NONE
    home: Path | None = None
    gateway: Path | None = None
    image: str | None = None


@dataclass(frozen=True, slots=True)
class SandboxState:
    """Whether programs are confined, with a text for people.

    Attributes:
        confined: True if programs run confined.
        allowed: True if programs may run, even unconfined.
        detail: for people.
        backend: name of the confinement backend.
    """

    confined: bool
    allowed: bool
    detail: str
    backend: str = "bubblewrap"

    @property
    def name(self) -> str:
        """The name that verdicts record: `bubblewrap`, `container`, `seatbelt` or `none`."""
        return self.backend if self.confined else "none"


@dataclass(frozen=True, slots=True)
class ContainerSettings:
    """How containers are created, if containers confine programs.

    Attributes:
        engine: the program of Docker or Podman, with its global options; empty selects the installed one.
        image: image for all commands of projects, or `devcontainer` for each project's own; None for neither.
        environ: environment of the engine's program.
    """

    engine: tuple[str, ...] = ()
    image: str | None = None
    environ: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """The operator's settings of the sandbox.

    Attributes:
        mode: whether programs must be confined.
        limits: limits of each launch.
        readable: paths that every confined program may read, such as toolchains outside the system's
            directories.
        cgroup: a directory of a cgroup v2 hierarchy in which each launch gets its own group.
        egress: what programs with a network may reach besides public addresses.
        kind: the backend that confines programs; None means bubblewrap.
        containers: how containers are created.
    """

    mode: SandboxMode = SandboxMode.REQUIRED
    limits: SandboxLimits = field(default_factory=SandboxLimits)
    readable: tuple[Path, ...] = ()
    cgroup: Path | None = None
    egress: EgressRules = field(default_factory=EgressRules)
    kind: ConfinementKind | None = None
    containers: ContainerSettings = field(default_factory=ContainerSettings)
