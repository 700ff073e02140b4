"""What a confinement backend must do; bubblewrap, containers and Seatbelt implement it."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.workspaces.confine.confinement import Confinement


class Report(Protocol):
    """Tells what became of one launch."""

    @property
    def started(self) -> bool:
        """True when the program itself ran and ended; known after `settle`."""
        ...

    async def settle(self, returncode: int) -> None:
        """Find out whether the program ran, once its command line has ended with an exit status."""
        ...

    async def ask_to_end(self) -> bool:
        """Send TERM to the program; False where the command that was started must get it."""
        ...


@dataclass(frozen=True, slots=True)
class Launched:
    """What starts a confined program, and tells what became of it.

    Attributes:
        command: program and arguments to start on this machine.
        cwd: where that command starts; the program's own directory is part of the command.
        env: the whole environment of that command.
        descriptors: what it must inherit.
        report: tells what became of it.
    """

    command: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    descriptors: tuple[int, ...]
    report: Report


class ConfinementBackend(Protocol):
    """A means of confining programs."""

    @property
    def name(self) -> str:
        """What is stamped on verdicts."""
        ...

    @property
    def advice(self) -> str:
        """What to do where it does not work."""
        ...

    def launched(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        confinement: Confinement,
        pass_fds: Sequence[int] = (),
    ) -> AbstractAsyncContextManager[Launched]:
        """Prepare all that one launch needs; at the end of the block, wait until nothing inside runs.

        Raises:
            SandboxUnavailableError: it cannot be confined.
            FileNotFoundError: the program or `cwd` does not exist, or would not be visible.
        """
        ...

    async def missing(self) -> str | None:
        """Say what is missing before a launch can be tried at all; None when nothing is."""
        ...

    def is_user(self, number: str) -> bool:
        """Tell whether a program that says so (`id -u`) has the user that it must have inside."""
        ...

    def describe(self) -> str:
        """Say what confines programs, and which bounds hold for every launch."""
        ...
