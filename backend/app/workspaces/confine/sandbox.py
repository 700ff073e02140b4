"""Runs programs that must not be trusted: confined, or not at all unless the operator allows it."""

import errno
import itertools
import os
import platform
import shutil
import sys
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import anyio.to_thread

from app.schemas.modes import SandboxMode
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
from app.workspaces.confine.confinement import (
    GATEWAY_PORT,
    Confinement,
    Network,
    SandboxSettings,
    SandboxState,
)
from app.workspaces.confine.egress import FORWARDER, forwarding, open_egress
from app.workspaces.confine.launch_report import LaunchReport
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.running import RunningProgram, SandboxUnavailableError
from app.workspaces.confine.seccomp import FilterFile, syscall_filter
from app.workspaces.process import ProcessOutcome, run_process
from app.workspaces.streaming import LINE_LIMIT, start_process

OUTPUT_LIMIT = 1_000_000
_PROBE_SECONDS = 10.0
_PROBE_AGAIN_SECONDS = 30.0
_INSIDE_UID = 1000
# User numbers that no distribution uses. Several, because the kernel counts processes by user.
_FIRST_UID, _UIDS = 60_600, 400
_UIDS_INSIDE = frozenset(map(str, (_INSIDE_UID, *range(_FIRST_UID, _FIRST_UID + _UIDS))))
_INSIDE = {"HOME": HOME, "TMPDIR": "/tmp", "USER": "sandbox", "LOGNAME": "sandbox"}  # noqa: S108 - inside
_PATH = "/usr/local/bin:/usr/bin:/bin"
_FILTER = syscall_filter(platform.machine())
_INSTALL = (
    "install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap; "
    "Arch: pacman -S bubblewrap), or set SANDBOX=off to run tests unconfined"
)


@dataclass(frozen=True, slots=True)
class _Launched:
    """What starts a program in bubblewrap, and tells what became of it."""

    command: Sequence[str]
    env: Mapping[str, str]
    descriptors: tuple[int, ...]
    report: LaunchReport


class Sandbox:
    """Confines programs with bubblewrap.

    Inside, a program sees the system's directories and what its confinement names, and nothing else: no
    home directories, no files of this service, no other processes, no network unless it is granted, empty
    private temporary directories. It is not root, cannot become root, and everything it started ends
    with it. Whether that works here is found out by a real launch when it is first needed.
    """

    def __init__(self, settings: SandboxSettings | None = None, program: str | None = None) -> None:
        self._settings = settings or SandboxSettings()
        self._program = program or shutil.which("bwrap", path=_PATH)
        self._cgroups = _cgroups(self._settings)
        self._known: SandboxState | None = None
        self._asked_at = 0.0
        self._turns = itertools.count(os.getpid() * 16)

    async def state(self) -> SandboxState:
        """Say whether programs are confined here; a failed probe is repeated after a while."""
        stale = time.monotonic() - self._asked_at > _PROBE_AGAIN_SECONDS
        if self._known is None or (not self._known.confined and stale):
            self._known = await self._probe()
            self._asked_at = time.monotonic()
        return self._known

    async def run(  # noqa: PLR0913 - a process has that many sides
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        confinement: Confinement,
        output_limit: int = OUTPUT_LIMIT,
        stdin: bytes | None = None,
        pass_fds: Sequence[int] = (),
    ) -> ProcessOutcome:
        """Run a program to its end; see `run_process` for time, output and what is killed.

        `HOME` and `TMPDIR` of `env` are replaced when confined. A confined program that a signal ended has
        128 + signal as its exit status, as in a shell.

        Args:
            argv: the program and its arguments; a path with a directory in it must be visible inside.
            cwd: where it starts; must be visible inside.

        Raises:
            SandboxUnavailableError: it would have to be confined, and cannot be.
            FileNotFoundError: the program or `cwd` does not exist, or would not be visible.
            PermissionError: the program cannot be executed.
        """
        if not (await self._allowed_state()).confined:
            return await run_process(
                argv,
                cwd=cwd,
                env=env,
                timeout=timeout,
                output_limit=output_limit,
                stdin=stdin,
                pass_fds=pass_fds,
            )
        async with self._launched(argv, cwd, env, confinement) as launched:
            outcome = await run_process(
                launched.command,
                cwd=cwd,
                env=launched.env,
                timeout=timeout,
                output_limit=output_limit,
                stdin=stdin,
                pass_fds=(*pass_fds, *launched.descriptors),
            )
        if not outcome.timed_out and not launched.report.exit_code_seen:
            raise SandboxUnavailableError(f"bubblewrap could not start: {outcome.stderr.strip()[-500:]}")
        return outcome

    @asynccontextmanager
    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        confinement: Confinement,
        line_limit: int = LINE_LIMIT,
    ) -> AsyncGenerator[RunningProgram]:
        """Start a program with streams; it and all that it started end with the block.

        Args:
            argv: the program and its arguments; a path with a directory in it must be visible inside.
            cwd: where it starts; must be visible inside.
            env: `TMPDIR` is replaced when confined, and `HOME` where the confinement has none.
            confinement: its `gateway` counts only when confined.
            line_limit: longest line of output, in bytes.

        Raises:
            SandboxUnavailableError: it would have to be confined, and cannot be.
            FileNotFoundError: the program or `cwd` does not exist, or would not be visible.
            PermissionError: the program cannot be executed.
        """
        if not (await self._allowed_state()).confined:
            home = {"HOME": str(confinement.home)} if confinement.home else {}
            async with start_process(argv, cwd=cwd, env={**env, **home}, line_limit=line_limit) as process:
                yield RunningProgram(process)
            return
        async with (
            self._launched(argv, cwd, env, confinement) as launched,
            start_process(
                launched.command,
                cwd=cwd,
                env=launched.env,
                line_limit=line_limit,
                pass_fds=launched.descriptors,
            ) as process,
        ):
            yield RunningProgram(process, launched.report)

    async def _allowed_state(self) -> SandboxState:
        state = await self.state()
        if not state.allowed:
            raise SandboxUnavailableError(state.detail)
        return state

    @asynccontextmanager
    async def _launched(
        self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], confinement: Confinement
    ) -> AsyncGenerator[_Launched]:
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
            command = command_line(self._program or "bwrap", launch, argv)
            if self._cgroups is not None:
                command = (await stack.enter_async_context(_group(self._cgroups))).command_line(command)
            descriptors = (report.writing, *configuration.descriptors, *calls.descriptors)
            yield _Launched(command, {**env, **_INSIDE, "HOME": home}, descriptors, report)

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

    async def _probe(self) -> SandboxState:
        mode = self._settings.mode
        if mode is SandboxMode.OFF:
            return SandboxState(confined=False, allowed=True, detail="SANDBOX=off: programs run unconfined")
        trouble = await self._trouble()
        if trouble is None:
            return SandboxState(
                confined=True, allowed=True, detail=f"bubblewrap ({self._program}){self._bounds()}"
            )
        if mode is SandboxMode.PREFERRED:
            return SandboxState(confined=False, allowed=True, detail=f"{trouble}; programs run unconfined")
        return SandboxState(confined=False, allowed=False, detail=f"{trouble}; {_INSTALL}")

    async def _trouble(self) -> str | None:
        """Say why a launch under the usual limits does not work here; None when it does."""
        if sys.platform != "linux":
            return f"programs cannot be confined on {sys.platform}"
        if self._program is None:
            return "bubblewrap (bwrap) is not installed"
        try:
            async with self._launched(["id", "-u"], Path("/usr"), {"PATH": _PATH}, Confinement()) as launched:
                outcome = await run_process(
                    launched.command,
                    cwd=Path("/usr"),
                    env=launched.env,
                    timeout=_PROBE_SECONDS,
                    pass_fds=launched.descriptors,
                )
        except OSError as error:
            return f"{error.filename or self._program} cannot be started or seen: {error.strerror}"
        except SandboxUnavailableError as error:
            return str(error)
        if outcome.stdout.strip() in _UIDS_INSIDE and launched.report.exit_code_seen:
            return None
        return f"bubblewrap does not work here: {outcome.stderr.strip()[-300:] or 'no answer'}"

    def _bounds(self) -> str:
        notes = [] if _FILTER else [f"no filter of system calls for {platform.machine()}"]
        if self._cgroups is None:
            notes.append("no control group bounds the memory of a launch as a whole (SANDBOX_CGROUP)")
            return f"; {', '.join(notes)}"
        missing = self._cgroups.missing_bounds()
        without = f" without {' and '.join(missing)}" if missing else ""
        notes.insert(0, f"groups in {self._cgroups.root}{without}")
        return f", {', '.join(notes)}"

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
