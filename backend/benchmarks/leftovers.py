"""Judges many workspaces at once whose tests try to stay, and looks for what is left of them."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from app.composition.services import build_calibration
from app.composition.tools import build_tools
from app.core.config import Settings
from app.corpora.format import CorpusCase, Files
from app.schemas.calibration import CalibrationReport, Label
from app.services.local.calibration import Panel
from benchmarks.machine import machine

TITLE = "leftovers: what is left when 100 workspaces were judged, 8 at a time, whose tests try to stay"
WORKSPACES, AT_ONCE = 100, 8

_MODULE = "def double(number: int) -> int:\n    return 2 * number\n"

# Each way of staying: a process in a new session, one whose parent is gone, files, a directory that
# no user may enter, a pipe.
_TEST = """import os
import subprocess
import sys
import tempfile

from double import double

STAY = [sys.executable, "-c", "import time; time.sleep(900)", "{marker}"]


def test_double() -> None:
    assert double(2) == 4


def test_stays() -> None:
    subprocess.Popen(STAY, start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        os.execv(sys.executable, STAY)
    place = tempfile.mkdtemp(prefix="{marker}")
    os.mkfifo(f"{{place}}/pipe")
    os.mkdir(f"{{place}}/locked", 0o000)
    os.mkdir("locked", 0o000)
"""


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What was found afterwards that was not there before.

    Attributes:
        processes: command lines of processes that tests started, whoever their parent is now.
        children: processes that this one started and has not seen the end of.
        mounts: mounts of this process.
        files: files in the directory for temporary files.
    """

    processes: list[str]
    children: set[int]
    mounts: set[str]
    files: list[str]


def workspaces(count: int, marker: str) -> list[CorpusCase]:
    """Projects of one function, every tenth of them wrong."""
    tests: Files = {"tests/test_double.py": _TEST.format(marker=marker).encode()}
    wrong = {"double.py": _MODULE.replace("2 *", "3 *").encode(), **tests}
    right = {"double.py": _MODULE.encode(), **tests}
    return [
        CorpusCase(
            name=f"workspace-{number}",
            label=Label.GOOD if number % 10 else Label.BAD,
            about="its tests try to stay",
            base=tests,
            candidate=right if number % 10 else wrong,
        )
        for number in range(count)
    ]


async def leave(
    count: int, at_once: int, scratch: Path, evaluators: tuple[str, ...] = ()
) -> tuple[CalibrationReport, Leftovers]:
    """Judge workspaces and look for what they left.

    Args:
        count: how many.
        at_once: how many at the same time.
        scratch: an empty directory, which becomes the one for temporary files meanwhile.
        evaluators: only these; empty means the panel.
    """
    marker = f"stays-{uuid4().hex}"
    before, children = _mounts(), _children()
    usual, tempfile.tempdir = tempfile.tempdir, str(scratch)
    try:
        service = build_calibration(build_tools(Settings(_env_file=None)))  # pyright: ignore[reportCallIssue]
        panel = Panel(evaluators=evaluators, workers=at_once)
        report = await service.calibrate("leftovers", workspaces(count, marker), panel)
    finally:
        tempfile.tempdir = usual
    return report, Leftovers(
        processes=[line for line in _command_lines() if marker in line],
        children=_children() - children,
        mounts=_mounts() - before,
        files=[*_names(scratch), *(name for name in _names(Path("/tmp")) if marker in name)],
    )


async def measure(place: Path) -> None:
    """Print what is left."""
    report, left = await leave(WORKSPACES, AT_ONCE, place)
    print(f"\n{TITLE}\n\n{machine()}\n")
    print("| Processes | Mounts | Files | Without a verdict | Wrong verdicts | Seconds |")
    print("|---:|---:|---:|---:|---:|---:|")
    processes = len(left.processes) + len(left.children)
    counts = (processes, len(left.mounts), len(left.files), report.panel.errored.count, len(report.surprises))
    print(f"| {' | '.join(map(str, counts))} | {report.seconds:.0f} |", flush=True)


def _children() -> set[int]:
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        found.update(map(int, (task / "children").read_text().split()))
    return found


def _mounts() -> set[str]:
    return set(Path("/proc/self/mounts").read_text().splitlines())


def _names(place: Path) -> list[str]:
    return sorted(each.name for each in place.iterdir())


def _command_lines() -> Iterator[str]:
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            try:
                yield (place / "cmdline").read_text(errors="replace")
            except OSError:  # it has just ended
                continue
