"""The interface of a confinement backend. Bubblewrap, containers and Seatbelt implement it."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.workspaces.confine.confinement import Confinement


class Report(Protocol):
    """Reports how one launch ended."""

    @property
    def started(self) -> bool:
        """True if the program itself ran and ended; known after `settle`."""
        ...

    async def settle(self, returncode: int) -> None:
        """Determine whether the program ran, once its command line has ended with an exit status."""
        ...

    async def ask_to_end(self) -> bool:
        """Send TERM to the program.

        Return False if the caller must send it to the started command instead.
        """
        ...


@dataclass(frozen=True, slots=True)
class Launched:
    """A prepared launch: the command that starts the confined program, and its report.

    Attributes:
        command: the program and arguments to start on this machine.
        cwd: where that command starts. The program's own directory is part of the command.
        env: the whole environment of that command.
        descriptors: the file descriptors that the command must inherit.
        report: says how the launch ended.
    """

    command: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    descriptors: tuple[int, ...]
    report: Report


class ConfinementBackend(Protocol):
    """A technique that confines programs."""

    @property
    def name(self) -> str:
        """The backend's name, as verdicts record it."""
        ...

    @property
    def advice(self) -> str:
        """What to do where the backend does not work."""
        ...

    def launched(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        confinement: Confinement,
        pass_fds: Sequence[int] = (),
    ) -> AbstractAsyncContextManager[Launched]:
        """Prepare one launch. At the end of the block, wait until nothing runs inside.

        Raises:
            SandboxUnavailableError: the program cannot be confined.
            FileNotFoundError: the program or `cwd` does not exist, or would not be visible.
        """
        ...

    async def missing(self) -> str | None:
        """Say what is missing before a launch can be tried. Return None if nothing is."""
        ...

    def is_user(self, number: str) -> bool:
        """Return True if the user number (as from `id -u`) is one that a program must have inside."""
        ...

    def describe(self) -> str:
        """Say which backend confines programs and which limits hold for every launch."""
        ...
