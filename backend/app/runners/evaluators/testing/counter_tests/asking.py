"""Has counter-tests run for the test gate, where they are wanted."""

import asyncio
from dataclasses import replace
from pathlib import Path

from app.core.errors import WorkspaceError
from app.runners.evaluators.testing.counter_tests.counter_report import CounterReport
from app.runners.evaluators.testing.counter_tests.counter_run import CounterTests
from app.runners.evaluators.testing.report import RunReport
from app.runners.evaluators.testing.run import Harness
from app.runners.evaluators.testing.trees import RunTree, whole_tree
from app.runners.evaluators.tooling import ToolTroubleError
from app.schemas.modes import CounterTestsMode
from app.workspaces.files.limits import WorkspaceLimits


async def counter_report(
    harness: Harness, tree: RunTree | None, plain: RunReport, mode: CounterTestsMode
) -> CounterReport | None:
    """Say which of the base's tests would notice a wrong expectation; None when that is not asked.

    What goes wrong on the way leaves the evidence that there is.

    Args:
        harness: how the tests ran; its base is whose code may show that a test notices nothing anyway.
        tree: what was run.
        plain: what came of it.
        mode: whether the question is asked, and whether the answer decides.
    """
    if mode is CounterTestsMode.OFF or tree is None:
        return None
    try:
        base = await asyncio.to_thread(_base_tree, harness.base, harness.limits)
        report = await CounterTests(harness=harness, base=base).check(tree, plain)
    except (OSError, ToolTroubleError, WorkspaceError) as error:
        return CounterReport(trouble=f"The tests could not be run with wrong expectations: {error}")
    return replace(report, decides=mode is CounterTestsMode.GATE)


def _base_tree(base: Path | None, limits: WorkspaceLimits) -> RunTree | None:
    if base is None:
        return None
    tree = whole_tree(base, limits)
    return replace(tree, trusted=frozenset(tree.files))
