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


async def measure(place: Path) -> list[Series]:
    """Start each command several times; nothing listens where `list` asks, so that it ends at once."""
    return [
        Series(
            " ".join(command[:2] if command[-1] == "--help" else command[:1]),
            [await asyncio.to_thread(_processor_seconds, command, place) for _ in range(STARTS)],
            unit="s",
            target=TARGET_SECONDS,
        )
        for command in _COMMANDS
    ]


def _processor_seconds(command: Sequence[str], place: Path) -> float:
    process = subprocess.Popen(
        [sys.executable, "-m", "phaserunner", *command],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, _, used = os.wait4(process.pid, 0)
    return used.ru_utime + used.ru_stime
