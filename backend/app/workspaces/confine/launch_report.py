"""Hears from bubblewrap what became of a launch, on a pipe that the launched program does not have."""

import os
import re
from contextlib import suppress
from typing import Self

import anyio

from app.workspaces.ending import wait_for_exit

_STATUS_BYTES = 4096
_CHILD = re.compile(rb'"child-pid"\s*:\s*(\d+)')
_END_SECONDS = 5.0


class LaunchReport:
    """A pipe to give to bubblewrap for its reports (`--json-status-fd`).

    Attributes:
        writing: the descriptor to pass on.
        exit_code_seen: True when the program ran and ended by itself; bubblewrap reports no exit code of one
            that it could not start.
    """

    exit_code_seen = False
    _heard = b""

    def __enter__(self) -> Self:
        self._reading, self.writing = os.pipe()
        os.set_blocking(self._reading, False)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._reading)
        os.close(self.writing)

    async def wait_for_end(self) -> None:
        """Read the report; wait until the first process inside has ended, and with it every other.

        When bubblewrap itself is killed, the kernel ends what is inside a little later.
        """
        first = self.first_process()
        if first is not None and not self.exit_code_seen:
            with anyio.move_on_after(_END_SECONDS):
                await wait_for_exit(first)

    def first_process(self) -> int | None:
        """Return the number of the first process inside, seen from here; None before it is reported."""
        with suppress(BlockingIOError):
            self._heard += os.read(self._reading, _STATUS_BYTES)
        self.exit_code_seen = b'"exit-code"' in self._heard
        child = _CHILD.search(self._heard)
        return int(child.group(1)) if child else None
