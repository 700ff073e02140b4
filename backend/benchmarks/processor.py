"""Processor time of other processes, which says what work costs also where the machine is shared."""

import os
from collections.abc import Iterable
from pathlib import Path

_TICK = 1 / os.sysconf("SC_CLK_TCK")


def seconds_of(pids: Iterable[int]) -> float:
    """Seconds that processes used so far, with those of their children that have ended (Linux)."""
    return sum(_seconds(each) for each in pids)


def with_children(pid: int) -> list[int]:
    """A process and those it has now."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [pid, *map(int, children.split())]


def _seconds(pid: int) -> float:
    # After the name, which may hold anything: state is field 3, the four times are 14 to 17.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) * _TICK
