"""What the panel costs beyond the tools it runs."""

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import logfire

from app.runners.evaluators import panel
from app.runners.evaluators.evaluator_config import CODING, EvaluatorConfig
from app.runners.evaluators.protocol import EvaluationContext, EvaluationStatus
from app.runners.evaluators.registry import create_default_registry
from benchmarks.figures import Series
from benchmarks.project import MODULES, change_project, write_project

TITLE = "panel: the coding phase's tools under the panel, against the same tools run by hand in parallel"
ROUNDS = 7
TARGET_RATIO = 1.15
TARGET_RATIO_LATER = 0.6
TARGET_SECONDS = 4.0
TARGET_SECONDS_SMALL = 1.5

# Without the one that runs no tool.
_REGISTRY = create_default_registry(EvaluatorConfig(model=None, lint_timeout=120.0)).without(
    ["protected_files"]
)

Arm = Callable[[Path, Path], Awaitable[None]]
"""Checks a fresh copy of the candidate; the second path is a fresh copy of the base."""


async def measure(place: Path) -> list[Series]:
    """Check copies of two projects, by hand and by the panel in turns; a first round is not counted.

    Raises:
        AssertionError: one of the tools did not pass; its time would be of no use.
    """
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    large, small = [_Project(place / name, modules) for name, modules in (("large", MODULES), ("small", 2))]
    await asyncio.to_thread(large.write)
    await asyncio.to_thread(small.write)
    arms: list[tuple[Arm, _Project]] = [
        (_by_hand, large),
        (_panel, large),
        (_panel_with_base, large),
        (_LaterAttempts(), large),
        (_by_hand, small),
        (_panel_with_base, small),
    ]
    seconds: list[list[float]] = [[] for _ in arms]
    for turn in range(ROUNDS + 1):
        for each in range(len(arms)):
            index = (turn + each) % len(arms)
            arm, project = arms[index]
            spent = await _timed(arm, project.candidate, project.base, place / "copies")
            if turn:
                seconds[index].append(spent)
    hand, alone, with_base, later, hand_small, small_with_base = seconds
    return [
        Series("by hand", hand, "s"),
        Series("panel, without a base", alone, "s"),
        Series("panel, against a base (as in a sprint)", with_base, "s", TARGET_SECONDS),
        Series("panel, second and later attempts of a run", later, "s"),
        Series("ratio without a base", _ratios(alone, hand), "x", TARGET_RATIO),
        Series("ratio against a base", _ratios(with_base, hand), "x", TARGET_RATIO),
        Series("ratio of later attempts", _ratios(later, hand), "x", TARGET_RATIO_LATER),
        Series("five files, by hand", hand_small, "s"),
        Series("five files, panel, against a base", small_with_base, "s", TARGET_SECONDS_SMALL),
    ]


@dataclass(frozen=True, slots=True)
class _Project:
    """A project at its base and with an attempt's change."""

    place: Path
    modules: int

    @property
    def base(self) -> Path:
        return self.place / "base"

    @property
    def candidate(self) -> Path:
        return self.place / "candidate"

    def write(self) -> None:
        write_project(self.base, self.modules)
        write_project(self.candidate, self.modules)
        change_project(self.candidate)


def _ratios(subject: list[float], reference: list[float]) -> list[float]:
    return [one / other for one, other in zip(subject, reference, strict=True)]


async def _timed(arm: Arm, candidate: Path, base: Path, place: Path) -> float:
    # Copies, so that no tool finds a cache of the time before.
    await asyncio.to_thread(shutil.copytree, candidate, place / "candidate")
    await asyncio.to_thread(shutil.copytree, base, place / "base")
    try:
        started = time.perf_counter()
        await arm(place / "candidate", place / "base")
        return time.perf_counter() - started
    finally:
        await asyncio.to_thread(shutil.rmtree, place)


async def _by_hand(candidate: Path, base: Path) -> None:
    ruff = str(Path(sys.executable).with_name("ruff"))
    async with asyncio.TaskGroup() as group:
        for command in (
            [ruff, "check"],
            [sys.executable, "-m", "mypy", "."],
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        ):
            group.create_task(_run(command, candidate))


async def _run(command: list[str], cwd: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, f"{command} ended with {process.returncode}:\n{said.decode()}"


async def _panel(candidate: Path, base: Path) -> None:
    await _judge({"workspace_ref": str(candidate), "base_ref": None})


async def _panel_with_base(candidate: Path, base: Path) -> None:
    await _judge({"workspace_ref": str(candidate), "base_ref": str(base)})


class _LaterAttempts:
    """One run after another attempt of it was judged; each attempt changes a function that others use."""

    def __init__(self) -> None:
        self._run_id = uuid4()
        self._attempts = 0

    def _at(self) -> EvaluationContext:
        # The first one is in the round that is not counted.
        return {"run_id": self._run_id, "attempt": self._attempts}

    async def __call__(self, candidate: Path, base: Path) -> None:
        self._attempts += 1
        module = candidate / "ledger" / "amounts_07.py"
        added = f"\n\ndef places_{self._attempts}() -> int:\n    return {self._attempts}\n"
        await asyncio.to_thread(module.write_text, await asyncio.to_thread(module.read_text) + added)
        await _judge({"workspace_ref": str(candidate), "base_ref": str(base), **self._at()})


async def _judge(context: EvaluationContext) -> None:
    results = await panel.evaluate(CODING, "", context, _REGISTRY, deterministic_only=True)
    for each in results:
        assert each.status is EvaluationStatus.PASSED, f"{each.evaluator_name}: {each.feedback}"
    assert len(results) == 3, [each.evaluator_name for each in results]
