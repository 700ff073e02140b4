"""Runs programs that must not be trusted: confined, or not at all unless the operator allows it."""

import shutil
import sys
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from app.schemas.modes import SandboxMode
from app.workspaces.confine.confinement import Confinement, SandboxSettings, SandboxState
from app.workspaces.confine.launching import UIDS_INSIDE, Launcher
from app.workspaces.confine.running import RunningProgram, SandboxUnavailableError
from app.workspaces.process import ProcessOutcome, run_process
from app.workspaces.streaming import LINE_LIMIT, start_process

OUTPUT_LIMIT = 1_000_000
_PROBE_SECONDS = 10.0
_PROBE_AGAIN_SECONDS = 30.0
_PATH = "/usr/local/bin:/usr/bin:/bin"
_INSTALL = (
    "install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap; "
    "Arch: pacman -S bubblewrap), or set SANDBOX=off to run tests unconfined"
)


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
        self._launcher = Launcher(self._settings, self._program or "bwrap")
        self._known: SandboxState | None = None
        self._asked_at = 0.0

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
        async with self._launcher.launched(argv, cwd, env, confinement) as launched:
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
            self._launcher.launched(argv, cwd, env, confinement) as launched,
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

    async def _probe(self) -> SandboxState:
        mode = self._settings.mode
        if mode is SandboxMode.OFF:
            return SandboxState(confined=False, allowed=True, detail="SANDBOX=off: programs run unconfined")
        trouble = await self._trouble()
        if trouble is None:
            return SandboxState(
                confined=True, allowed=True, detail=f"bubblewrap ({self._program}){self._launcher.bounds()}"
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
            async with self._launcher.launched(
                ["id", "-u"], Path("/usr"), {"PATH": _PATH}, Confinement()
            ) as launched:
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
        if outcome.stdout.strip() in UIDS_INSIDE and launched.report.exit_code_seen:
            return None
        return f"bubblewrap does not work here: {outcome.stderr.strip()[-300:] or 'no answer'}"
