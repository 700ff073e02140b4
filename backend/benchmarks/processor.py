"""Processor time of other processes, which says what work costs also where the machine is shared."""

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TICK = 1 / os.sysconf("SC_CLK_TCK")
_LOOK_EVERY = 0.2
_OTHER = "other"


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


class TreeMeter:
    """Adds up the processor time of all processes below this one, by what they do, while its block runs.

    A sandbox does not hand on the time of what ran in it, so all processes are looked at again and again.

    Args:
        kinds: for each kind of work, a part of the command lines of its programs and of what they start.
    """

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self._kinds = kinds
        self._seconds: dict[tuple[int, int], tuple[str, float]] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "TreeMeter":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def by_kind(self) -> dict[str, float]:
        """Return the seconds of each kind; `other` is the rest."""
        found = dict.fromkeys((*self._kinds, _OTHER), 0.0)
        for kind, seconds in self._seconds.values():
            found[kind] += seconds
        return found

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_EVERY):
            self._look()

    def _look(self) -> None:
        stats = {each.pid: each for each in _process_stats()}
        below = {os.getpid(): _OTHER}
        # A parent has a lower number than its child, except where numbers started again.
        for pid in sorted(stats):
            each = stats[pid]
            if each.parent not in below:
                continue
            key = pid, each.started
            kind = self._seconds[key][0] if key in self._seconds else _OTHER
            below[pid] = kind if kind != _OTHER else self._kind(pid, below[each.parent])
            self._seconds[key] = below[pid], each.seconds

    def _kind(self, pid: int, parents: str) -> str:
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
            return next((kind for kind, part in self._kinds.items() if part in command), parents)
        return parents


@dataclass(frozen=True, slots=True)
class _ProcessStat:
    """A process: its number, its parent's, when it started, and the seconds that it used itself."""

    pid: int
    parent: int
    started: int
    seconds: float


def _process_stats() -> Iterator[_ProcessStat]:
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = place.read_text().rpartition(")")[2].split()
            used = (int(fields[11]) + int(fields[12])) * _TICK
            yield _ProcessStat(int(place.parent.name), int(fields[1]), int(fields[19]), used)
