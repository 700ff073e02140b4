"""Receives bubblewrap's report about a launch, on a pipe that the launched program does not inherit."""

import os
import re
import signal
from contextlib import suppress
from pathlib import Path
from typing import Self

import anyio

from app.workspaces.ending import wait_for_exit

_STATUS_BYTES = 4096
_CHILD = re.compile(rb'"child-pid"\s*:\s*(\d+)')
_END_SECONDS = 5.0


class LaunchReport:
    """A pipe on which bubblewrap reports (`--json-status-fd`).

    Attributes:
        writing: the descriptor to pass on.
        started: True if the program ran and ended by itself. Bubblewrap reports no exit code for a program
            that
            it could not start.
    """

    started = False
    _heard = b""

    def __enter__(self) -> Self:
        self._reading, self.writing = os.pipe()
        os.set_blocking(self._reading, False)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._reading)
        os.close(self.writing)

    async def settle(self, returncode: int) -> None:
        """Wait for the end. Read from bubblewrap's report whether the program ran."""
        await self.wait_for_end()

    async def ask_to_end(self) -> bool:
        """Send TERM to the program.

        TERM to bubblewrap would kill everything inside at once. So the signal goes to the program itself,
        which is the child of the first process inside.
        """
        first = self.first_process()
        for child in _children(first) if first is not None else []:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGTERM)
        return True

    async def wait_for_end(self) -> None:
        """Read the report. Wait until the first process inside has ended, and with it all others.

        Bubblewrap ends with the program, or when it is killed. The kernel ends what still runs inside a
        little later.
        """
        first = self.first_process()
        if first is not None:
            with anyio.move_on_after(_END_SECONDS):
                await wait_for_exit(first)

    def first_process(self) -> int | None:
        """Return the number of the first process inside, as seen from here.

        Return None until it is reported.
        """
        with suppress(BlockingIOError):
            self._heard += os.read(self._reading, _STATUS_BYTES)
        self.started = b'"exit-code"' in self._heard
        child = _CHILD.search(self._heard)
        return int(child.group(1)) if child else None


def _children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (OSError, ValueError):
        return []
