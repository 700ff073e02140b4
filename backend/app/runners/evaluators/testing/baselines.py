"""Measures the baseline of a project with its test gate, unless it is known already."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from app.core.errors import WorkspaceError
from app.runners.evaluators.interpreter import EnvironmentTroubleError, interpreter_for
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.testing.at_base.baseline import measure
from app.runners.evaluators.testing.gate import PytestEvaluator
from app.runners.evaluators.testing.layout.config import settings_for
from app.runners.evaluators.testing.layout.trees import lay_out
from app.runners.evaluators.testing.running.run import Harness
from app.runners.evaluators.testing.running.sharding import sharding_at
from app.runners.evaluators.tooling import ToolTroubleError, excerpt, stretched
from app.schemas.baseline import Baseline
from app.workspaces.confine.sandbox import SandboxUnavailableError
from app.workspaces.environments.outcome import Ready

Recall = Callable[[str], Awaitable[Baseline | None]]
"""Finds an earlier baseline by its key."""


@dataclass(frozen=True, slots=True)
class FoundBaseline:
    """A baseline, and whether it was measured earlier."""

    baseline: Baseline
    reused: bool = False


def comparing_gate(registry: EvaluatorRegistry, phases: Iterable[str]) -> PytestEvaluator | None:
    """Return the test gate that compares with the base in one of these phases, or None."""
    gates = [each for phase in phases for each in registry.get_evaluators(phase)]
    return next((each for each in gates if isinstance(each, PytestEvaluator) and each.compare_base), None)


async def no_recall(key: str) -> Baseline | None:
    """Return None: there is no earlier baseline."""
    return None


async def baseline_at(gate: PytestEvaluator, base: Path, recall: Recall = no_recall) -> FoundBaseline | None:
    """Return the baseline of a tree, or None if the tree has no tests.

    If the baseline cannot be measured, its `trouble` says why.

    Args:
        gate: runs the tests.
        base: the tree with the base commit.
        recall: finds an earlier baseline.
    """
    try:
        if not await asyncio.to_thread(_has_tests, gate, base):
            return None
        async with interpreter_for(
            gate.interpreters, gate.python, base, base, extensions=gate.extensions
        ) as found:
            return await _known_or_measured(gate, base, found, recall)
    except (EnvironmentTroubleError, SandboxUnavailableError, ToolTroubleError, WorkspaceError) as error:
        return FoundBaseline(Baseline(trouble=excerpt(str(error), 500)))


async def _known_or_measured(
    gate: PytestEvaluator, base: Path, found: Ready, recall: Recall
) -> FoundBaseline:
    key = await gate.key_of(base, found)
    known = await recall(key)
    if known is not None:
        return FoundBaseline(known, reused=True)
    harness = Harness(
        python=found.python,
        base=base,
        seconds=stretched(gate.longest),
        sandbox=gate.sandbox,
        limits=gate.limits,
        patience=gate.timeout,
        leaves_out=True,
        built=found.built,
        sharding=await asyncio.to_thread(sharding_at, base, gate.processes),
    )
    return FoundBaseline(await measure(harness, base, key))


def _has_tests(gate: PytestEvaluator, base: Path) -> bool:
    return lay_out(base, base, settings_for(base, base), (), gate.limits).base_run is not None
