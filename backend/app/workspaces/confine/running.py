"""A running program with streams: knows whether it started, and how to ask it to end."""

import asyncio

from app.workspaces.confine.backend import Report
from app.workspaces.streaming import StreamingProcess


class SandboxUnavailableError(Exception):
    """Programs cannot be confined here. The message says why and what to do."""


class LaunchedProgram:
    """A running program, confined or not.

    Attributes:
        confined: True if it runs confined.
    """

    def __init__(self, process: StreamingProcess, report: Report | None = None) -> None:
        self.confined = report is not None
        self._process = process
        self._report = report
        self._asked_to_end = False

    @property
    def stdin(self) -> asyncio.StreamWriter:
        """The program's standard input."""
        return self._process.stdin

    @property
    def stdout(self) -> asyncio.StreamReader:
        """The program's standard output. `readline` raises `ValueError` for a line longer than the limit."""
        return self._process.stdout

    def stderr(self) -> str:
        """Return the start and the end of standard error so far."""
        return self._process.stderr()

    async def wait(self) -> int:
        """Wait for the program's end. Return its exit status, 128 + signal if confined.

        Raises:
            SandboxUnavailableError: the backend did not start the program.
        """
        status = await self._process.wait()
        if self._report is not None and not self._asked_to_end:
            await self._report.settle(status)
            if not self._report.started:
                told = self.stderr().strip()[-500:]
                raise SandboxUnavailableError(f"the sandbox could not start the program: {told}")
        return status

    async def terminate(self, grace: float) -> int:
        """Send TERM, then KILL to all its processes after `grace` seconds. Return the exit status."""
        self._asked_to_end = True
        if self._report is None or not await self._report.ask_to_end():
            return await self._process.terminate(grace)
        return await self._process.kill_after(grace)
