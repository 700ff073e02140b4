"""Prepares launches of confined programs: what each sees, as whom it runs and what ends with it."""

import errno
import itertools
import os
import platform
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import anyio.to_thread

from app.workspaces.confine.bubblewrap import (
    HOME,
    Identity,
    Launch,
    SystemConfiguration,
    command_line,
    give_to,
    visible_without_asking,
)
from app.workspaces.confine.cgroups import Cgroup, CgroupError, CgroupPlace
from app.workspaces.confine.confinement import GATEWAY_PORT, Confinement, Network, SandboxSettings
from app.workspaces.confine.egress import FORWARDER, forwarding, open_egress
from app.workspaces.confine.launch_report import LaunchReport
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.running import SandboxUnavailableError
from app.workspaces.confine.seccomp import FilterFile, syscall_filter

_INSIDE_UID = 1000
# User numbers that no distribution uses. Several, because the kernel counts processes by user.
_FIRST_UID, _UIDS = 60_600, 400
UIDS_INSIDE = frozenset(map(str, (_INSIDE_UID, *range(_FIRST_UID, _FIRST_UID + _UIDS))))
"""The user numbers that a program may have inside, as `id -u` prints them."""

_INSIDE = {"HOME": HOME, "TMPDIR": "/tmp", "USER": "sandbox", "LOGNAME": "sandbox"}  # noqa: S108 - inside
_FILTER = syscall_filter(platform.machine())


@dataclass(frozen=True, slots=True)
class Launched:
    """What starts a program in bubblewrap, and tells what became of it."""

    command: Sequence[str]
    env: Mapping[str, str]
    descriptors: tuple[int, ...]
    report: LaunchReport


class Launcher:
    """Prepares launches with one program, which is bubblewrap, and under one installation's settings."""

    def __init__(self, settings: SandboxSettings, program: str) -> None:
        self._settings = settings
        self._program = program
        self._cgroups = _cgroups(settings)
        self._turns = itertools.count(os.getpid() * 16)

    @asynccontextmanager
    async def launched(
        self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], confinement: Confinement
    ) -> AsyncGenerator[Launched]:
        """Prepare all that one launch needs; at the end of the block, wait until nothing inside runs."""
        async with AsyncExitStack() as stack:
            confinement = self._with_home(confinement)
            _check_visible(argv[0], cwd, confinement)
            identity = await self._identity(confinement)
            argv, confinement = await self._connected(argv, confinement, identity, stack)
            report = stack.enter_context(LaunchReport())
            stack.push_async_callback(_ended, report)
            home = str(confinement.home or HOME)
            account = f"sandbox:x:{identity.uid}:{identity.uid}::{home}:/bin/sh"
            configuration = stack.enter_context(SystemConfiguration(account))
            calls = stack.enter_context(FilterFile(_FILTER))
            launch = self._launch(confinement, cwd, identity, report, configuration, calls)
            command = command_line(self._program, launch, argv)
            if self._cgroups is not None:
                command = (await stack.enter_async_context(_group(self._cgroups))).command_line(command)
            descriptors = (report.writing, *configuration.descriptors, *calls.descriptors)
            yield Launched(command, {**env, **_INSIDE, "HOME": home}, descriptors, report)

    def bounds(self) -> str:
        """Say which bounds hold for every launch and which are missing, as the end of a sentence."""
        notes = [] if _FILTER else [f"no filter of system calls for {platform.machine()}"]
        if self._cgroups is None:
            notes.append("no control group bounds the memory of a launch as a whole (SANDBOX_CGROUP)")
            return f"; {', '.join(notes)}"
        missing = self._cgroups.missing_bounds()
        without = f" without {' and '.join(missing)}" if missing else ""
        notes.insert(0, f"groups in {self._cgroups.root}{without}")
        return f", {', '.join(notes)}"

    def _with_home(self, confinement: Confinement) -> Confinement:
        home = (confinement.home,) if confinement.home else ()
        return replace(
            confinement,
            writable=(*confinement.writable, *home),
            readable=(*self._settings.readable, *confinement.readable),
        )

    async def _connected(
        self, argv: Sequence[str], confinement: Confinement, identity: Identity, stack: AsyncExitStack
    ) -> tuple[Sequence[str], Confinement]:
        """Open the ways out of the sandbox; return the command line that leads to them, and what it needs."""
        owner = identity.uid if identity.switch else None
        python = Path(sys.executable)
        needed: list[Path] = []
        if confinement.gateway is not None:
            if owner is not None:
                await anyio.to_thread.run_sync(give_to, owner, (confinement.gateway.parent,))
            needed.append(confinement.gateway)
            argv = forwarding(python, GATEWAY_PORT, confinement.gateway, argv)
        if confinement.network is Network.PUBLIC:
            egress = await stack.enter_async_context(open_egress(self._settings.egress, owner))
            needed.append(egress.path)
            argv = egress.command_line(python, argv)
        if needed:
            needed += [*interpreter_paths(python), FORWARDER]
        return argv, replace(confinement, readable=(*confinement.readable, *needed))

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

    async def _identity(self, confinement: Confinement) -> Identity:
        """Choose as whom a program runs; as root, give it what it may write."""
        if os.geteuid() != 0:
            return Identity(_INSIDE_UID, switch=False)
        uid = _FIRST_UID + next(self._turns) % _UIDS
        await anyio.to_thread.run_sync(give_to, uid, confinement.writable)
        return Identity(uid, switch=True)


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


def _check_visible(program: str, cwd: Path, confinement: Confinement) -> None:
    places = (*confinement.readable, *confinement.writable)
    for place in places:
        if not os.path.lexists(place):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(place))
    needed = [cwd, *([Path(program)] if os.sep in program else [])]
    for path in needed:
        if not path.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        if not visible_without_asking(path) and not any(path.is_relative_to(each) for each in places):
            raise FileNotFoundError(
                errno.ENOENT, "not visible in the sandbox (SANDBOX_READABLE adds places)", str(path)
            )
