"""The ports through which agents start programs. The composition root decides how, and in which sandbox."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol


class ProgramOutcome(Protocol):
    """How a program ended."""

    @property
    def returncode(self) -> int:
        """Exit status; negative is the signal that ended it."""
        ...

    @property
    def stdout(self) -> str:
        """The kept part of standard output."""
        ...

    @property
    def stderr(self) -> str:
        """The kept part of standard error."""
        ...

    @property
    def timed_out(self) -> bool:
        """True if the deadline killed it."""
        ...


class RunProgram(Protocol):
    """Runs one program to its end, with limits on time and output, and leaves no process behind."""

    async def __call__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        output_limit: int,
    ) -> ProgramOutcome:
        """Run `argv` with exactly the environment `env`.

        Raises:
            OSError: it cannot be started.
        """
        ...


class RunningProgram(Protocol):
    """A running program with streams."""

    @property
    def stdin(self) -> asyncio.StreamWriter:
        """The program's standard input."""
        ...

    @property
    def stdout(self) -> asyncio.StreamReader:
        """The program's standard output. `readline` raises `ValueError` for a line longer than the limit."""
        ...

    def stderr(self) -> str:
        """Return the start and the end of standard error so far."""
        ...

    async def wait(self) -> int:
        """Wait for the program's end. Return its exit status.

        Raises:
            OSError: it did not start.
        """
        ...

    async def terminate(self, grace: float) -> int:
        """Send TERM, then KILL to all its processes after `grace` seconds. Return the exit status."""
        ...


class ProgramStarter(Protocol):
    """Starts agents' programs."""

    @property
    def gateway_port(self) -> int:
        """The port on the confined program's loopback that leads to the gateway's socket."""
        ...

    async def confines(self) -> bool:
        """Return True if programs are confined here.

        Raises:
            OSError: they must be confined and cannot be.
        """
        ...

    def start(  # noqa: PLR0913 - a confined process has that many sides
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
    ) -> AbstractAsyncContextManager[RunningProgram]:
        """Start a program. End it, and all that it started, with the block.

        Args:
            argv: the program and its arguments.
            cwd: the workspace, where it starts and which it may change.
            env: its whole environment, besides `HOME` and `TMPDIR`.
            home: its home directory, which it may change.
            readable: directories and files that it may read besides the system's.
            writable: further paths that it may change.
            gateway: unix socket of the model gateway; None if the gateway is reached by its address.
            network: whether it reaches public addresses.

        Raises:
            OSError: it cannot be started.
        """
        ...
