"""How much processor time the command line takes before it does anything."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Series

TITLE = "startup: processor time of one command, in seconds"
STARTS = 10
TARGET_SECONDS = 0.3

_COMMANDS = (("--help",), ("list", "--url", "http://127.0.0.1:9"), ("evaluate", "--help"))
_WITHOUT_PLUGINS = {"PYDANTIC_DISABLE_PLUGINS": "__all__"}  # as the command line has it
_LIBRARIES = "import asyncio, anyio, cyclopts, httpx, pydantic, pydantic_settings, rich.console, rich.table"


async def measure(place: Path) -> list[Series]:
    """Start each command several times; nothing listens where `list` asks, so that it ends at once.

    The libraries that `list` cannot do without are imported alone, as the reference in the same run.
    """
    commands = [
        Series(
            " ".join(command[:2] if command[-1] == "--help" else command[:1]),
            [await _processor_seconds(["-m", "phaserunner", *command], place) for _ in range(STARTS)],
            unit="s",
            target=TARGET_SECONDS,
        )
        for command in _COMMANDS
    ]
    libraries = [await _processor_seconds(["-c", _LIBRARIES], place) for _ in range(STARTS)]
    return [*commands, Series("the libraries of list alone", libraries, unit="s")]


async def _processor_seconds(arguments: Sequence[str], place: Path) -> float:
    return await asyncio.to_thread(_run, arguments, place)


def _run(arguments: Sequence[str], place: Path) -> float:
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **_WITHOUT_PLUGINS},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, _, used = os.wait4(process.pid, 0)
    return used.ru_utime + used.ru_stime
