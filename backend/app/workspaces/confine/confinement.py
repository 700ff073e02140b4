"""What a confined program may reach, the operator's choice, and whether programs are confined at all."""

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
    """What a confined program may reach beyond a loopback that it has for itself.

    `NONE`: nothing. `PUBLIC`: public addresses over HTTP and HTTPS, through a proxy that its variables name.
    `HOST`: all that this machine reaches, this service included; only for programs of the operator.
    """

    NONE = "none"
    PUBLIC = "public"
    HOST = "host"

    @classmethod
    def public_if(cls, granted: bool) -> "Network":
        """Return `PUBLIC` where a network was granted."""
        return cls.PUBLIC if granted else cls.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """What a confined program may reach beyond the system's directories, each at its usual place.

    When this service runs as root, the program runs as another user: writable paths are given to that user,
    and readable ones must be readable by everybody.

    Attributes:
        writable: directories or files that it may change.
        readable: directories or files that it may read; one below a writable one stays read-only.
        network: what it may reach beyond a loopback that it has for itself.
        home: a directory that is its `HOME`, writable; None is an empty one that ends with the program.
        gateway: a unix socket that it reaches on its loopback at `GATEWAY_PORT`. As root, the program's user
            becomes the owner of the socket and of its directory.
        image: container image whose system it sees, where containers confine it; None is the usual system.
    """

    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    network: Network = Network.NONE
    home: Path | None = None
    gateway: Path | None = None
    image: str | None = None


@dataclass(frozen=True, slots=True)
class SandboxState:
    """Whether programs are confined, and what to say about it.

    Attributes:
        confined: True when programs run confined.
        allowed: True when programs may run, be it unconfined.
        detail: for people.
        backend: name of what confines them.
    """

    confined: bool
    allowed: bool
    detail: str
    backend: str = "bubblewrap"

    @property
    def name(self) -> str:
        """What is stamped on verdicts: `bubblewrap`, `container`, `seatbelt` or `none`."""
        return self.backend if self.confined else "none"


@dataclass(frozen=True, slots=True)
class ContainerSettings:
    """How containers are made, where containers confine programs.

    Attributes:
        engine: program of Docker or Podman, with its global options; empty takes the one that is installed.
        image: image for all commands of projects, or `devcontainer` for each project's own; None for neither.
        environ: environment of the engine's program.
    """

    engine: tuple[str, ...] = ()
    image: str | None = None
    environ: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """What the operator chose.

    Attributes:
        mode: whether programs must be confined.
        limits: bounds on each launch.
        readable: paths that every confined program may read, such as toolchains outside the system's places.
        cgroup: a directory of a cgroup v2 hierarchy in which each launch gets its own group.
        egress: what programs with a network may reach beyond public addresses.
        kind: what confines programs; None is bubblewrap.
        containers: how containers are made.
    """

    mode: SandboxMode = SandboxMode.REQUIRED
    limits: SandboxLimits = field(default_factory=SandboxLimits)
    readable: tuple[Path, ...] = ()
    cgroup: Path | None = None
    egress: EgressRules = field(default_factory=EgressRules)
    kind: ConfinementKind | None = None
    containers: ContainerSettings = field(default_factory=ContainerSettings)
