"""Prepares launches in bubblewrap: visible paths, user, network, and clean-up at the end."""

import platform
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio

from app.workspaces.confine.accounts import account_lines, host_line
from app.workspaces.confine.backend import Launched
from app.workspaces.confine.bubblewrap import HOME, Identity, Launch, SystemConfiguration, command_line
from app.workspaces.confine.cgroups import Cgroup, CgroupError, CgroupPlace
from app.workspaces.confine.confinement import Confinement, Network, SandboxSettings
from app.workspaces.confine.launch_report import LaunchReport
from app.workspaces.confine.preparing import (
    UIDS_INSIDE,
    check_visible,
    connected,
    identity_for,
    variables_inside,
    with_places,
)
from app.workspaces.confine.running import SandboxUnavailableError
from app.workspaces.confine.seccomp import FilterFile, syscall_filter

_FILTER = syscall_filter(platform.machine())

_MARKS_OF_CONTAINERS = (Path("/.dockerenv"), Path("/run/.containerenv"))


def in_container() -> bool:
    """Return True if this machine is itself a container of Docker or Podman."""
    return any(each.exists() for each in _MARKS_OF_CONTAINERS)


class BubblewrapBackend:
    """Confines with bubblewrap: no home directories, no files of this service, no other processes.

    Args:
        settings: the operator's settings.
        program: path of bubblewrap; None if it is not installed.
    """

    name = "bubblewrap"

    def __init__(self, settings: SandboxSettings, program: str | None) -> None:
        self._settings = settings
        self._program = program
        self._cgroups = _cgroups(settings)

    @property
    def advice(self) -> str:
        """What to do if it does not work here."""
        if self._program is None or not Path(self._program).exists():
            first = (
                "install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap; "
                "Arch: pacman -S bubblewrap)"
            )
        elif in_container():
            first = "let this container create namespaces, as docker-compose.yml lets the worker"
        else:
            first = "run `phaserunner doctor --fix`"
        return f"{first}, or set SANDBOX=off to run tests unconfined"

    async def missing(self) -> str | None:
        """Say what is missing before a launch can be tried. Return None if nothing is."""
        if sys.platform != "linux":
            return f"bubblewrap is for Linux; this is {sys.platform}"
        return None if self._program else "bubblewrap (bwrap) is not installed"

    @asynccontextmanager
    async def launched(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        confinement: Confinement,
        pass_fds: Sequence[int] = (),
    ) -> AsyncGenerator[Launched]:
        """Prepare one launch. At the end of the block, wait until nothing runs inside."""
        async with AsyncExitStack() as stack:
            confinement = with_places(confinement, self._settings)
            check_visible(argv[0], cwd, confinement)
            identity = await identity_for(confinement)
            owner = identity.uid if identity.switch else None
            argv, confinement = await connected(argv, confinement, self._settings.egress, owner, stack)
            report = stack.enter_context(LaunchReport())
            stack.push_async_callback(_ended, report)
            lines = account_lines(identity.uid, identity.uid, str(confinement.home or HOME))
            configuration = stack.enter_context(SystemConfiguration({**lines, **host_line()}))
            calls = stack.enter_context(FilterFile(_FILTER))
            launch = self._launch(confinement, cwd, identity, report, configuration, calls)
            command = command_line(self._program or "bwrap", launch, argv)
            if self._cgroups is not None:
                command = (await stack.enter_async_context(_group(self._cgroups))).command_line(command)
            descriptors = (*pass_fds, report.writing, *configuration.descriptors, *calls.descriptors)
            yield Launched(command, cwd, variables_inside(env, confinement), descriptors, report)

    def is_user(self, number: str) -> bool:
        """Return True if the user number is one that a program must have inside."""
        return number in UIDS_INSIDE

    def describe(self) -> str:
        """Describe bubblewrap's version, the limits of every launch, and the limits that are missing."""
        notes = [] if _FILTER else [f"no filter of system calls for {platform.machine()}"]
        if self._cgroups is None:
            notes.append("no control group bounds the memory of a launch as a whole (SANDBOX_CGROUP)")
            return f"bubblewrap ({self._program}); {', '.join(notes)}"
        missing = self._cgroups.missing_bounds()
        without = f" without {' and '.join(missing)}" if missing else ""
        notes.insert(0, f"groups in {self._cgroups.root}{without}")
        return f"bubblewrap ({self._program}), {', '.join(notes)}"

    def _launch(
        self,
        confinement: Confinement,
        cwd: Path,
        identity: Identity,
        status: LaunchReport,
        configuration: SystemConfiguration,
        calls: FilterFile,
    ) -> Launch:
        return Launch(
            writable=confinement.writable,
            readable=confinement.readable,
            cwd=cwd,
            network=confinement.network is Network.HOST,
            identity=identity,
            limits=self._settings.limits,
            status_fd=status.writing,
            filter_fd=calls.descriptor,
            configuration=configuration,
        )


def _cgroups(settings: SandboxSettings) -> CgroupPlace | None:
    if settings.cgroup is None:
        return None
    return CgroupPlace(settings.cgroup, settings.limits.memory_bytes, settings.limits.processes)


@asynccontextmanager
async def _group(place: CgroupPlace) -> AsyncGenerator[Cgroup]:
    try:
        async with place.group() as group:
            yield group
    except CgroupError as error:
        raise SandboxUnavailableError(str(error)) from error


async def _ended(report: LaunchReport) -> None:
    with anyio.CancelScope(shield=True):
        await report.wait_for_end()
