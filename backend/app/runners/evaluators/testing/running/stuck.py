"""Notices that a run is stuck: it waits for something that does not come, or one test works without end."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.runners.evaluators.testing.pytest_runner.stop_signal import STOP_TEST

_LOOKS = 4
_MOST_WORK = 0.01
"""Share of a period that a program which only waits, or asks again and again, spends on the processor."""

_MOST_DELAY = 0.2
"""Share of a period in which it may want to run and cannot, because the machine is busy."""

_TICK = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Effort:
    """What processes did so far.

    Attributes:
        work: seconds on the processor, with children that have ended.
        delay: seconds in which they wanted to run and could not.
    """

    work: float
    delay: float


async def until_stuck(mark: str, seconds: float, last_record: Callable[[], float]) -> None:
    """Return as soon as a run has sent no record for some time, whether it waits or works.

    A run that works gets the time in which it could not, because the machine is busy. Where the system does
    not tell what processes do (Linux does), this never returns.

    Args:
        mark: a part of the command line of the run's process, and of no other.
        seconds: how long.
        last_record: when the last record came, by the clock of the event loop.
    """
    period = seconds / _LOOKS
    idle, silence = 0, 0.0
    before = await asyncio.to_thread(effort_of, mark)
    while idle < _LOOKS and silence < seconds:
        await asyncio.sleep(period)
        now = await asyncio.to_thread(effort_of, mark)
        silent = asyncio.get_running_loop().time() - last_record() >= period
        idle = idle + 1 if silent and _is_idle(before, now, period) else 0
        silence = silence + _unhindered(before, now, period) if silent else 0.0
        before = now


def stop_test(mark: str, program: str) -> bool:
    """Ask a run's process to end its running test. Return False if it cannot be asked.

    Args:
        mark: as for `until_stuck`.
        program: the path of the run's interpreter. What confines it has the mark in its command line, too.
    """
    found = {each.pid: each for each in _processes() if _runs(each.pid, program, mark)}
    for pid, process in found.items():
        # A child that a test forked looks like the run itself.
        if process.parent not in found:
            with suppress(OSError):
                os.kill(pid, STOP_TEST)
                return True
    return False


def _runs(pid: int, program: str, mark: str) -> bool:
    command = _command(pid)
    return command.startswith(f"{program}\0") and mark in command


def effort_of(mark: str) -> Effort | None:
    """Return what the processes with a mark and those below them did; None if there are none to be seen."""
    found = {each.pid: each for each in _processes()}
    chosen: set[int] = set()
    for pid in sorted(found):
        if found[pid].parent in chosen or mark in _command(pid):
            chosen.add(pid)
    if not chosen:
        return None
    delay = sum(_delay(pid) for pid in chosen)
    return Effort(sum(found[pid].work for pid in chosen), delay)


def _is_idle(before: Effort | None, now: Effort | None, period: float) -> bool:
    if before is None or now is None:
        return False
    worked, delayed = now.work - before.work, now.delay - before.delay
    return 0 <= worked <= _MOST_WORK * period and 0 <= delayed <= _MOST_DELAY * period


def _unhindered(before: Effort | None, now: Effort | None, period: float) -> float:
    """Return the seconds of a period in which the processes could do what they wanted."""
    if before is None or now is None:
        return 0.0
    return period - min(period, max(0.0, now.delay - before.delay))


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    parent: int
    work: float


def _processes() -> Iterator[_Process]:
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            fields = place.read_text().rpartition(")")[2].split()
            yield _Process(int(place.parent.name), int(fields[1]), sum(map(int, fields[11:15])) * _TICK)


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
    return ""


def _delay(pid: int) -> float:
    """Return the seconds in which the threads of a process wanted to run and could not."""
    whole = 0
    for place in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError, ValueError, IndexError):
            whole += int(place.read_text().split()[1])
    return whole / 1e9
