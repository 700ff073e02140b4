"""Runs the benchmarks: `python -m benchmarks [--only NAME]`."""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path

from benchmarks import (
    attempts,
    event_append,
    event_delivery,
    forge_deliveries,
    front_doors,
    gateway,
    growth,
    idle,
    installed_agents,
    kills,
    known_good,
    launches,
    leftovers,
    loops,
    metric_report,
    pages,
    panel,
    panel_time,
    starts,
    startup,
    throughput,
    trust,
)
from benchmarks.figures import Series, print_table

Measure = Callable[[Path], Awaitable[list[Series]]]
"""Measures below a directory that is empty."""

BENCHMARKS: dict[str, tuple[str, Measure]] = {
    "append": (event_append.TITLE, event_append.measure),
    "attempt": (attempts.TITLE, attempts.measure),
    "pickup": (starts.TITLE, starts.measure),
    "startup": (startup.TITLE, startup.measure),
    "sandbox": (launches.TITLE, launches.measure),
    "gateway": (gateway.TITLE, gateway.measure),
    "agents": (installed_agents.TITLE, installed_agents.measure),
    "panel": (panel.TITLE, panel.measure),
    "loops": (loops.TITLE, loops.measure),
    "front-doors": (front_doors.TITLE, front_doors.measure),
}

LOADS: dict[str, tuple[str, Measure]] = {
    "delivery": (event_delivery.TITLE, event_delivery.measure),
    "kills": (kills.TITLE, kills.measure),
    "forge-deliveries": (forge_deliveries.TITLE, forge_deliveries.measure),
    "growth": (growth.TITLE, growth.measure),
    "idle": (idle.TITLE, idle.measure),
    "metrics": (metric_report.TITLE, metric_report.measure),
    "pages": (pages.TITLE, pages.measure),
    "throughput": (throughput.TITLE, throughput.measure),
}
"""The engine under load: these take minutes and are run when they are asked for by name."""

Report = Callable[[Path], Awaitable[None]]
"""Works below a directory that is empty, and prints what it found."""

TRUST: dict[str, Report] = {
    "humaneval": trust.humaneval,
    "attacks": trust.attacks,
    "known-good": known_good.measure,
    "leftovers": leftovers.measure,
}
"""How far the panel can be trusted: these take many minutes and are run when they are asked for."""

TIMES: dict[str, Report] = {"panel-time": panel_time.measure}
"""What takes half an hour, and is run when it is asked for by name."""


def main() -> None:
    """Run what was asked for and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure PhaseRunner.")
    parser.add_argument(
        "--only", choices=(*BENCHMARKS, *LOADS, *TRUST, *TIMES), help="run this benchmark alone"
    )
    parser.add_argument("--trust", action="store_true", help=f"run {', '.join(TRUST)} instead of the others")
    parser.add_argument("--sprints", type=int, help=f"of throughput, instead of {throughput.SPRINTS:,}")
    parser.add_argument(
        "--problems", type=_positive, help="of HumanEval, spread evenly, instead of all, with all their cases"
    )
    given = parser.parse_args()
    if given.problems is not None:
        TRUST["humaneval"] = partial(trust.humaneval, problems=given.problems)
    if given.sprints is not None:
        LOADS["throughput"] = (throughput.TITLE, partial(throughput.measure, sprints=given.sprints))
    started = time.monotonic()
    reports = TRUST | TIMES
    _run_reports([given.only] if given.only in reports else TRUST if given.trust else ())
    if not given.trust and given.only not in reports:
        _run_figures(given.only)
    print(f"\n{time.monotonic() - started:.0f} s in all")


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def _run_reports(names: Iterable[str]) -> None:
    for name in names:
        with tempfile.TemporaryDirectory(prefix="phaserunner-bench-") as place:
            asyncio.run(_reported((TRUST | TIMES)[name], Path(place)))


def _run_figures(only: str | None) -> None:
    chosen = BENCHMARKS if only is None else {only: (BENCHMARKS | LOADS)[only]}
    for title, measure in chosen.values():
        with tempfile.TemporaryDirectory(prefix="phaserunner-bench-") as place:
            print_table(title, asyncio.run(_measured(measure, Path(place))))


async def _measured(measure: Measure, place: Path) -> list[Series]:
    return await measure(place)


async def _reported(report: Report, place: Path) -> None:
    await report(place)


main()
