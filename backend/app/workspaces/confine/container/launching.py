"""Prepares launches in Docker or Podman. Each container is removed at the end of its launch."""

import os
import platform
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import anyio
import anyio.to_thread

from app.core.own_python import own_python
from app.workspaces.confine.accounts import GROUPS, USERS, account_lines, with_line
from app.workspaces.confine.backend import Launched
from app.workspaces.confine.bubblewrap import HOME, Identity
from app.workspaces.confine.confinement import Confinement, Network, SandboxSettings
from app.workspaces.confine.container.command import ContainerLaunch, command_line
from app.workspaces.confine.container.engine import Engine, find_engine
from app.workspaces.confine.container.handover import needed_for, offered, receiving
from app.workspaces.confine.container.seccomp_profile import seccomp_profile
from app.workspaces.confine.container.system_image import system_image, system_places
from app.workspaces.confine.preparing import (
    check_visible,
    connected,
    identity_for,
    variables_inside,
    with_places,
)
from app.workspaces.confine.running import SandboxUnavailableError
from app.workspaces.owner_mark import owner_mark

_ENGINE_FAILED = 125
"""Exit status of `run` if the engine could not start the program. Programs can end with it, too."""


_FILTER = seccomp_profile(platform.machine())
_STATE = "{{.State.ExitCode}}|{{.State.Error}}"


class ContainerReport:
    """Asks the engine how a container ended."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._name = name
        self.started = False

    async def settle(self, returncode: int) -> None:
        """Determine whether the program ran. Only the engine's answer counts, not what was printed."""
        if returncode != _ENGINE_FAILED:
            self.started = returncode >= 0
            return
        told = await self._engine.call("inspect", "--format", _STATE, self._name)
        self.started = told.returncode == 0 and told.stdout.strip() == f"{_ENGINE_FAILED}|"

    async def ask_to_end(self) -> bool:
        """Send TERM to the program, through the first process of the container."""
        await self._engine.call("kill", "--signal", "TERM", self._name)
        return True


class ContainerBackend:
    """Confines programs in containers.

    Without an image, a program sees this machine's system directories, as with bubblewrap, so that the
    machine's interpreters and tools work. With an image it sees the image's system. No image is ever
    downloaded.
    """

    name = "container"
    advice = (
        "install Podman (Debian, Ubuntu: apt install podman catatonit) or Docker, let this account use it, "
        "and name it in CONTAINER_ENGINE if it needs options; or set CONFINEMENT to another means"
    )

    def __init__(self, settings: SandboxSettings) -> None:
        self._settings = settings
        self._engine: Engine | None = None
        self._system = ""

    async def missing(self) -> str | None:
        """Find the engine and create the image of this system. Return what is missing."""
        if sys.platform != "linux":
            return f"containers confine programs of Linux alone, not of {sys.platform}"
        self._engine = await find_engine(self._settings.containers)
        self._system = await system_image(self._engine)
        return None

    def is_user(self, number: str) -> bool:
        """Return True if the user number is the one that a program must have."""
        rootless_docker = self._engine is not None and self._engine.is_rootless and not self._engine.is_podman
        return number.isdigit() and (number != "0" or rootless_docker)

    def describe(self) -> str:
        """Describe the engine."""
        if self._engine is None:
            return "containers"
        rootless = ", rootless" if self._engine.is_rootless else ""
        return f"containers of {self._engine.version}{rootless}; each has bounds on memory and processes"

    @asynccontextmanager
    async def launched(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        confinement: Confinement,
        pass_fds: Sequence[int] = (),
    ) -> AsyncGenerator[Launched]:
        """Prepare one container. Remove it, with everything that runs in it, at the end of the block."""
        engine = self._engine
        if engine is None:
            raise SandboxUnavailableError("no engine for containers was found yet")
        if confinement.image is not None:
            await _check_image(engine, confinement, pass_fds)
        async with AsyncExitStack() as stack:
            confinement = with_places(confinement, self._settings)
            check_visible(argv[0], cwd, confinement)
            identity = await identity_for(confinement)
            owner = identity.uid if identity.switch else None
            if pass_fds:
                path = await stack.enter_async_context(offered(pass_fds, owner))
                argv = receiving(own_python(), path, pass_fds, argv)
                needed = needed_for(own_python(), path)
                confinement = replace(confinement, readable=(*confinement.readable, *needed))
            argv, confinement = await connected(argv, confinement, self._settings.egress, owner, stack)
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="phaserunner-container-")))
            variables = {**variables_inside(env, confinement), "PWD": str(cwd)}
            launch = self._launch(engine, confinement, cwd, identity, place, max(pass_fds, default=0))
            await anyio.to_thread.run_sync(_write_files, place, variables, launch.user, confinement.home)
            command = command_line(engine, launch, argv)
            stack.push_async_callback(_removed, engine, launch.name)
            environ = {"PATH": "/usr/local/bin:/usr/bin:/bin", **engine.environ}
            # The engine's own programs outlive the container for a moment, but not in the workspace.
            yield Launched(
                command, Path(tempfile.gettempdir()), environ, (), ContainerReport(engine, launch.name)
            )

    def _launch(
        self,
        engine: Engine,
        confinement: Confinement,
        cwd: Path,
        identity: Identity,
        place: Path,
        highest: int,
    ) -> ContainerLaunch:
        is_system = confinement.image is None
        mounts = {inside: (here, False) for here, inside in system_places()} if is_system else {}
        if is_system:
            mounts |= {Path(table): (place / Path(table).name, False) for table in (USERS, GROUPS)}
        mounts |= {path: (path, True) for path in confinement.writable}
        mounts |= {path: (path, False) for path in confinement.readable}
        return ContainerLaunch(
            name=f"phaserunner-{uuid4().hex}",
            owner=owner_mark(),
            image=confinement.image or self._system,
            user=_user(engine, identity),
            switch=identity.switch,
            mounts=mounts,
            has_own_var_tmp=is_system,
            cwd=cwd,
            host_network=confinement.network is Network.HOST,
            limits=self._settings.limits,
            descriptors=highest + 64,
            variables=place / "variables",
            filter=place / "filter" if _FILTER else None,
        )


def _user(engine: Engine, identity: Identity) -> str:
    if identity.switch:
        return f"{identity.uid}:{identity.uid}"
    if engine.is_rootless and not engine.is_podman:
        return "0:0"  # The service's own account outside; inside, root without any capability.
    return f"{os.geteuid()}:{os.getegid()}"


async def _check_image(engine: Engine, confinement: Confinement, pass_fds: Sequence[int]) -> None:
    image = confinement.image or ""
    if confinement.network is Network.PUBLIC or confinement.gateway is not None or pass_fds:
        raise SandboxUnavailableError(
            f"a program in the image {image} can have no network; take it from the command, or unset "
            "CONTAINER_IMAGE"
        )
    if not await engine.has_image(image):
        pull = f"{engine.argv[0]} pull {image}"
        raise SandboxUnavailableError(f"the image {image} is not on this machine; get it with: {pull}")


def _write_files(place: Path, variables: Mapping[str, str], user: str, home: Path | None) -> None:
    for name, value in variables.items():
        if "\n" in value:
            raise SandboxUnavailableError(f"a container cannot be given {name}: its value has several lines")
    lines = (f"{name}={value}\n" for name, value in variables.items())
    (place / "variables").touch(mode=0o600)
    (place / "variables").write_text("".join(lines))
    uid, _, gid = user.partition(":")
    for table, line in account_lines(int(uid), int(gid), str(home or HOME)).items():
        copy = place / Path(table).name
        copy.write_bytes(with_line(Path(table).read_bytes(), line))
        copy.chmod(0o644)
    if _FILTER is not None:
        (place / "filter").write_bytes(_FILTER)


async def _removed(engine: Engine, name: str) -> None:
    with anyio.CancelScope(shield=True):
        await engine.remove(name)
