"""Runs the benchmarks: `python -m benchmarks [--only NAME]`."""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks import attempts, launches, panel, starts
from benchmarks.figures import Series, print_table

Measure = Callable[[Path], Awaitable[list[Series]]]
"""Measures below a directory that is empty."""

BENCHMARKS: dict[str, tuple[str, Measure]] = {
    "attempt": (attempts.TITLE, attempts.measure),
    "pickup": (starts.TITLE, starts.measure),
    "sandbox": (launches.TITLE, launches.measure),
    "panel": (panel.TITLE, panel.measure),
}


def main() -> None:
    """Run what was asked for and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure PhaseRunner.")
    parser.add_argument("--only", choices=BENCHMARKS, help="run this benchmark alone")
    only = parser.parse_args().only
    started = time.monotonic()
    for name, (title, measure) in BENCHMARKS.items():
        if only in (None, name):
            with tempfile.TemporaryDirectory(prefix="phaserunner-bench-") as place:
                print_table(title, asyncio.run(_measured(measure, Path(place))))
    print(f"\n{time.monotonic() - started:.0f} s in all")


async def _measured(measure: Measure, place: Path) -> list[Series]:
    return await measure(place)


main()
