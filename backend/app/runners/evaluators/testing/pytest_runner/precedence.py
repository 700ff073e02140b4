"""Lets other processes of the machine go first."""

import os
import time

_TRIES = 20
_BETWEEN = 0.05
"""Seconds. Linux refuses the change if another process has just made one."""


def give_way(niceness: int) -> None:
    """Let other processes go first, also those of other sessions, among which Linux shares the processor."""
    os.nice(niceness)
    for _ in range(_TRIES if niceness else 0):
        try:
            with open("/proc/self/autogroup", "w") as file:
                file.write(str(niceness))
        except BlockingIOError:
            time.sleep(_BETWEEN)
        except OSError:
            return  # another system, or a kernel without it
        else:
            return
