"""How long the panel takes on projects with long test suites, relative to the plain tests."""

import asyncio
import os
import shutil
import statistics
import sys
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import logfire

from app.composition.judging import build_evaluations, owned_directory
from app.composition.judging_tools import JudgingTools, build_judging_tools
from app.core.config import Settings
from app.runners.evaluators.interpreter import interpreter_for
from app.schemas.api.workspace_reports import EvaluateRequest, EvaluationReport
from app.workspaces.confine.confinement import Confinement
from app.workspaces.confine.python_places import interpreter_paths
from benchmarks.machine import machine
from benchmarks.processor import TreeMeter
from benchmarks.real_commit_trees import committed_release

TITLE = "panel-time: the whole panel against a base, on releases whose tests take seconds, honestly touched"
PROJECTS = Path(__file__).with_name("panel_time.toml")
ROUNDS = 3
TARGET_RATIO = 2.0
LEAST_SECONDS = 5.0
"""The target holds for suites that take longer than this."""

_GOAL = "Add a helper that joins values for display"
_EDIT = '''

def _joined_for_display(values: "list[str]") -> str:
    """Give the values in one line, separated by commas."""
    return ", ".join(values)
'''
_PLAIN = ("-m", "pytest", "-q", "-p", "no:cacheprovider")


@dataclass(frozen=True, slots=True)
class LongSuite:
    """A release, and the module to which an honest function is added.

    Attributes:
        name: on the registry.
        version: pinned, so that runs can be compared.
        module: the changed file.
    """

    name: str
    version: str
    module: str


_PROGRAMS = {
    "away": "pytest_outside/launch.py",
    "tests": "pytest_runner/__main__.py",
    "types": "mypy",
    "lint": "ruff",
}
"""By part of the panel, what its programs have in their command lines; `tests` has the counter-tests, too."""


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds of one piece of work with all its processes.

    Attributes:
        wall: wall clock.
        shares: processor time by part of the panel.
    """

    wall: float
    shares: Mapping[str, float]

    @property
    def processor(self) -> float:
        """Processor time of all parts."""
        return sum(self.shares.values())


@dataclass(frozen=True, slots=True)
class TimedRound:
    """One round of a project: its tests, then the panel.

    Attributes:
        plain: the tests, run with pytest in the panel's environment and sandbox.
        panel: the whole evaluation.
        verdict: of the panel.
        parts: wall-clock seconds of its parts, some of which run side by side.
        remark: what the panel says about the tests.
    """

    plain: Took
    panel: Took
    verdict: str
    parts: Mapping[str, float]
    remark: str

    @property
    def ratio(self) -> float:
        """The panel's time relative to that of the tests."""
        return self.panel.wall / self.plain.wall


def read_projects(text: str) -> list[LongSuite]:
    """Read the list of projects.

    Raises:
        KeyError, TypeError: an entry lacks a field or has another one.
    """
    return [LongSuite(**each) for each in tomllib.loads(text)["project"]]


async def measure(place: Path, only: Sequence[str] = ()) -> None:
    """Time every project, and print a line for each.

    Args:
        place: an empty directory.
        only: names of projects; empty for all.
    """
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    listed = read_projects(await asyncio.to_thread(PROJECTS.read_text, "utf-8"))
    settings = Settings(DATA_DIR=place / "data")
    print(f"{TITLE}\n\n{machine()}, load {os.getloadavg()[0]:.0f}\n\n{_HEAD}", flush=True)
    remarks: list[str] = []
    async with owned_directory(settings):
        tools = build_judging_tools(settings, one_shot=True)
        for project in listed:
            if only and project.name not in only:
                continue
            rounds = await _rounds(project, tools, place)
            print(row(project, rounds), flush=True)
            remarks.append(f"{project.name}: {' '.join(rounds[-1].remark.split())[:300]}")
    print("\n" + "\n".join(remarks), flush=True)


async def _rounds(project: LongSuite, tools: JudgingTools, place: Path) -> list[TimedRound]:
    tree = place / "trees" / project.name
    await committed_release(project.name, project.version, tree, place / "archives")
    base = place / "bases" / project.name
    await asyncio.to_thread(shutil.copytree, tree, base, ignore=shutil.ignore_patterns(".git"))
    await asyncio.to_thread(_touch, tree / project.module)
    await _judge(tools, tree)  # makes the environment, which the rounds share
    return [await _round(tools, base, tree) for _ in range(ROUNDS)]


def _touch(module: Path) -> None:
    module.write_text(module.read_text("utf-8").rstrip() + _EDIT, "utf-8")


async def _round(tools: JudgingTools, base: Path, tree: Path) -> TimedRound:
    plain = await _timed_plain(tools, base, tree)
    began = time.monotonic()
    with TreeMeter(_PROGRAMS) as meter:
        report = await _judge(tools, tree)
    took = Took(time.monotonic() - began, meter.by_kind())
    return TimedRound(plain, took, report.verdict, parts_of(report), _remark(report))


async def _timed_plain(tools: JudgingTools, base: Path, tree: Path) -> Took:
    """Run a tree's tests as its authors do, in the interpreter and the sandbox of the panel."""
    copy = tree.with_name(f"{tree.name}-plain")
    await asyncio.to_thread(shutil.copytree, tree, copy, symlinks=True)
    try:
        async with interpreter_for(tools.interpreters, None, base, tree) as found:
            began = time.monotonic()
            with TreeMeter({}) as meter:
                outcome = await tools.sandbox.run(
                    [str(found.python), *_PLAIN],
                    cwd=copy,
                    env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONPATH": f"{copy / 'src'}:{copy}"},
                    timeout=900.0,
                    confinement=Confinement(writable=(copy,), readable=interpreter_paths(found.python)),
                )
            took = Took(time.monotonic() - began, meter.by_kind())
    finally:
        await asyncio.to_thread(shutil.rmtree, copy)
    if outcome.returncode != 0:
        sys.stderr.write(f"{tree.name}, plain: {outcome.stdout[-300:]}\n")
    return took


async def _judge(tools: JudgingTools, tree: Path) -> EvaluationReport:
    request = EvaluateRequest(path=str(tree), base="HEAD", goal=_GOAL, deterministic_only=True)
    return await build_evaluations(tools).judge(request)


def parts_of(report: EvaluationReport) -> dict[str, float]:
    """Return the seconds of each gate, and of the parts of the test gate, by name."""
    found: dict[str, float] = {}
    for each in report.evaluations:
        result = each.result
        found[str(result["evaluator_name"])] = float(result.get("duration_ms") or 0) / 1000
        metadata = cast("dict[str, Any]", result.get("metadata") or {})
        if result["evaluator_name"] == "pytest":
            found["beside"] = float(metadata.get("seconds", 0.0))
            found["away"] = float(metadata.get("outside", {}).get("seconds", 0.0))
            found["counter-tests"] = float(metadata.get("counter_tests", {}).get("seconds", 0.0))
    return found


def _remark(report: EvaluationReport) -> str:
    told = [each.result for each in report.evaluations if each.result["evaluator_name"] == "pytest"]
    return str(told[0]["feedback"]) if told else ""


_PARTS = ("pytest", "beside", "away", "counter-tests", "ruff_lint", "type_check")
_COLUMNS = (*_PARTS, *(f"processor: {each}" for each in _PROGRAMS))
_HEAD = (
    f"| Project | Plain tests | Panel | Ratio | Processor, ratio | {' | '.join(_COLUMNS)} | Verdict |\n"
    f"|---|---:|---:|---:|---:|{'---:|' * len(_COLUMNS)}---|"
)


def row(project: LongSuite, rounds: Sequence[TimedRound]) -> str:
    """Return a project's line of the table: medians of its rounds, with the range of the ratio."""
    ratios = [each.ratio for each in rounds]
    processor = _median(each.panel.processor / each.plain.processor for each in rounds)
    plain = _median(each.plain.wall for each in rounds)
    median = statistics.median(ratios)
    judged = "" if plain < LEAST_SECONDS else ", met" if median <= TARGET_RATIO else ", **missed**"
    cells = [
        f"{project.name} {project.version}",
        f"{plain:.1f} s",
        f"{_median(each.panel.wall for each in rounds):.1f} s",
        f"{median:.2f} ({min(ratios):.2f} to {max(ratios):.2f}){judged}",
        f"{processor:.2f}",
        *(f"{_median(each.parts.get(name, 0.0) for each in rounds):.1f} s" for name in _PARTS),
        *(f"{_median(_share(each.panel, name) for each in rounds):.0f} %" for name in _PROGRAMS),
        ", ".join(sorted({each.verdict for each in rounds})),
    ]
    return f"| {' | '.join(cells)} |"


def _share(took: Took, part: str) -> float:
    return 100 * took.shares[part] / took.processor


def _median(values: Iterable[float]) -> float:
    return statistics.median(values)
