"""Runs untrusted programs: confined, or else only if the operator allows it."""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from app.schemas.modes import ConfinementKind, SandboxMode
from app.workspaces.confine.backend import ConfinementBackend
from app.workspaces.confine.backends import backend_for
from app.workspaces.confine.confinement import Confinement, SandboxSettings, SandboxState
from app.workspaces.confine.running import LaunchedProgram, SandboxUnavailableError
from app.workspaces.process import ProcessOutcome, run_process
from app.workspaces.streaming import LINE_LIMIT, start_process

OUTPUT_LIMIT = 1_000_000
_PROBE_SECONDS = 30.0
_PROBE_AGAIN_SECONDS = 30.0
_PATH = "/usr/local/bin:/usr/bin:/bin"


class Sandbox:
    """Confines programs with the backend that the operator chose.

    A confined program sees the system's directories and the paths in its confinement. It sees no home
    directories, no files of this service and no other processes. It has empty private temporary directories,
    and a network only if that is granted. It is not root and cannot become root. Everything that it starts
    ends with it. The first use checks with a real launch whether all this works here.
    """

    def __init__(self, settings: SandboxSettings | None = None, program: str | None = None) -> None:
        self._settings = settings or SandboxSettings()
        self._backend: ConfinementBackend = backend_for(self._settings, program)
        self._known: SandboxState | None = None
        self._asking = asyncio.Lock()
        self._asked_at = 0.0

    @property
    def image(self) -> str | None:
        """Image for commands of projects, or `devcontainer` for each project's own; None for neither."""
        is_used = self._settings.kind is ConfinementKind.CONTAINER
        return self._settings.containers.image if is_used else None

    async def state(self) -> SandboxState:
        """Return whether programs are confined here. A failed check is repeated after a while."""
        async with self._asking:
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
        """Run a program to its end. `run_process` documents time limit, output and what is killed.

        If the program is confined, `HOME` and `TMPDIR` of `env` are replaced, and a program that a signal
        ended has the exit status 128 + signal, as in a shell.

        Args:
            argv: the program and its arguments. A path with a directory in it must be visible inside.
            cwd: where it starts; must be visible inside.

        Raises:
            SandboxUnavailableError: the program must be confined and cannot be.
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
        async with self._backend.launched(argv, cwd, env, confinement, pass_fds) as launched:
            outcome = await run_process(
                launched.command,
                cwd=launched.cwd,
                env=launched.env,
                timeout=timeout,
                output_limit=output_limit,
                stdin=stdin,
                pass_fds=launched.descriptors,
            )
            if not outcome.timed_out:
                await launched.report.settle(outcome.returncode)
        if not outcome.timed_out and not launched.report.started:
            raise SandboxUnavailableError(
                f"{self._backend.name} could not start: {outcome.stderr.strip()[-500:]}"
            )
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
    ) -> AsyncGenerator[LaunchedProgram]:
        """Start a program with streams. End it, and all that it started, with the block.

        Args:
            argv: the program and its arguments. A path with a directory in it must be visible inside.
            cwd: where it starts; must be visible inside.
            env: if confined, `TMPDIR` is replaced, and `HOME` if the confinement has none.
            confinement: its `gateway` counts only if the program is confined.
            line_limit: longest line of output, in bytes.

        Raises:
            SandboxUnavailableError: the program must be confined and cannot be.
            FileNotFoundError: the program or `cwd` does not exist, or would not be visible.
            PermissionError: the program cannot be executed.
        """
        if not (await self._allowed_state()).confined:
            home = {"HOME": str(confinement.home)} if confinement.home else {}
            async with start_process(argv, cwd=cwd, env={**env, **home}, line_limit=line_limit) as process:
                yield LaunchedProgram(process)
            return
        async with (
            self._backend.launched(argv, cwd, env, confinement) as launched,
            start_process(
                launched.command,
                cwd=launched.cwd,
                env=launched.env,
                line_limit=line_limit,
                pass_fds=launched.descriptors,
            ) as process,
        ):
            yield LaunchedProgram(process, launched.report)

    async def _allowed_state(self) -> SandboxState:
        state = await self.state()
        if not state.allowed:
            raise SandboxUnavailableError(state.detail)
        return state

    async def _probe(self) -> SandboxState:
        settings, name = self._settings, self._backend.name
        if settings.mode is SandboxMode.OFF or settings.kind is ConfinementKind.OFF:
            switch = "SANDBOX" if settings.mode is SandboxMode.OFF else "CONFINEMENT"
            return SandboxState(confined=False, allowed=True, detail=f"{switch}=off: programs run unconfined")
        trouble = await self._trouble()
        if trouble is None:
            return SandboxState(confined=True, allowed=True, detail=self._backend.describe(), backend=name)
        if settings.mode is SandboxMode.PREFERRED:
            return SandboxState(confined=False, allowed=True, detail=f"{trouble}; programs run unconfined")
        return SandboxState(confined=False, allowed=False, detail=f"{trouble}; {self._backend.advice}")

    async def _trouble(self) -> str | None:
        """Say why a launch with the usual limits does not work here. Return None if it works."""
        try:
            return await self._backend.missing() or await self._trouble_of_a_launch()
        except OSError as error:
            return f"{error.filename or self._backend.name} cannot be started or seen: {error.strerror}"
        except SandboxUnavailableError as error:
            return str(error)

    async def _trouble_of_a_launch(self) -> str | None:
        async with self._backend.launched(
            ["id", "-u"], Path("/usr"), {"PATH": _PATH}, Confinement()
        ) as launched:
            outcome = await run_process(
                launched.command,
                cwd=Path("/usr"),
                env=launched.env,
                timeout=_PROBE_SECONDS,
                pass_fds=launched.descriptors,
            )
            await launched.report.settle(outcome.returncode)
        if self._backend.is_user(outcome.stdout.strip()) and launched.report.started:
            return None
        return f"{self._backend.name} does not work here: {outcome.stderr.strip()[-300:] or 'no answer'}"
