"""Starts an agent's programs, confined to its workspace."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.workspaces.confine.confinement import GATEWAY_PORT, Confinement, Network
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.running import LaunchedProgram, SandboxUnavailableError
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.process import ProcessOutcome


@dataclass(frozen=True, slots=True)
class AgentPrograms:
    """Starts programs that may change their working directory and nothing else.

    Attributes:
        sandbox: confines the programs.
        network: whether they reach public addresses over HTTP and HTTPS.
    """

    sandbox: Sandbox
    network: bool = False

    async def __call__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        output_limit: int,
    ) -> ProcessOutcome:
        """Run a Python interpreter, given by its path, with arguments.

        Raises:
            OSError: it cannot be started, or must be confined and cannot be.
        """
        confinement = Confinement(
            writable=(cwd,),
            readable=interpreter_paths(Path(argv[0])),
            network=Network.public_if(self.network),
        )
        try:
            return await self.sandbox.run(
                argv, cwd=cwd, env=env, timeout=timeout, confinement=confinement, output_limit=output_limit
            )
        except SandboxUnavailableError as error:
            raise OSError(str(error)) from error

    @property
    def gateway_port(self) -> int:
        """The port on a confined program's loopback that leads to the gateway's socket."""
        return GATEWAY_PORT

    async def confines(self) -> bool:
        """Return True if programs are confined here.

        Raises:
            OSError: they must be confined and cannot be.
        """
        state = await self.sandbox.state()
        if not state.allowed:
            raise OSError(state.detail)
        return state.confined

    @asynccontextmanager
    async def start(  # noqa: PLR0913 - a confined process has that many sides
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        home: Path,
        readable: Sequence[Path] = (),
        writable: Sequence[Path] = (),
        gateway: Path | None = None,
        network: bool = False,
    ) -> AsyncGenerator[LaunchedProgram]:
        """Start a program with streams in `cwd`. End it, and all that it started, with the block.

        Args:
            argv: the program and its arguments.
            cwd: the workspace, which it may change.
            env: its whole environment, besides `HOME` and `TMPDIR`.
            home: its home directory, which it may change.
            readable: directories and files that it may read besides the system's.
            writable: further paths that it may change.
            gateway: the unix socket that it reaches at `gateway_port`.
            network: True lets this program reach public addresses even if agents in general do not.

        Raises:
            OSError: it cannot be started, or must be confined and cannot be.
        """
        confinement = Confinement(
            writable=(cwd, *writable),
            readable=tuple(readable),
            network=Network.public_if(network or self.network),
            home=home,
            gateway=gateway,
        )
        try:
            async with self.sandbox.start(argv, cwd=cwd, env=env, confinement=confinement) as program:
                yield program
        except SandboxUnavailableError as error:
            raise OSError(str(error)) from error
