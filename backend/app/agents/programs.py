"""The port through which agents start programs; the composition decides how, and in which sandbox."""

from collections.abc import Mapping, Sequence
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
        """What was kept of standard output."""
        ...

    @property
    def stderr(self) -> str:
        """What was kept of standard error."""
        ...

    @property
    def timed_out(self) -> bool:
        """True when the deadline killed it."""
        ...


class RunProgram(Protocol):
    """Runs one program to its end, bounded in time and output, and leaves no process behind."""

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
