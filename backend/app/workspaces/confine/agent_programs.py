"""Runs what an agent asks for, confined to the workspace it is asked in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Confinement, Network, Sandbox, SandboxUnavailableError
from app.workspaces.process import ProcessOutcome


@dataclass(frozen=True, slots=True)
class AgentPrograms:
    """Starts programs that may change the directory they are started in, and nothing else.

    Attributes:
        sandbox: confines them.
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
            OSError: it cannot be started, or would have to be confined and cannot be.
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
